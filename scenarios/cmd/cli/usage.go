package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Hint is "; did you mean ...?" about the candidate nearest to a word, empty when none is near.
func Hint(word string, candidates []string) string {
	if near := strictyaml.Nearest(word, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// OneOf refuses a value that is none of the words; what is its flag or place.
func OneOf(what, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return Usagef("%s %q is none of %s%s", what, value, strings.Join(words, ", "), Hint(value, words))
}

// Args checks the number of arguments in one line of words. most below 0 is no bound.
func Args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return Usagef("%swants %s; see %s --help", in(cmd), what, cmd.CommandPath())
		}
		return nil
	}
}

// NoCommand is the Args of a command that only holds others: it refuses what is none of them and names the nearest one,
// which may be a command of a group.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	own, below := map[string]string{}, map[string]string{}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		own[sub.Name()] = sub.Name()
		for _, leaf := range sub.Commands() {
			if leaf.IsAvailableCommand() {
				below[leaf.Name()] = sub.Name() + " " + leaf.Name()
			}
		}
	}
	hint := "; see " + cmd.CommandPath() + " --help"
	for _, paths := range [...]map[string]string{own, below} {
		if near := strictyaml.Nearest(args[0], slices.Sorted(maps.Keys(paths))); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", paths[near])
			break
		}
	}
	return Usagef("%sunknown command %q%s", in(cmd), args[0], hint)
}

// FlagError names the nearest flag to one that does not exist.
func FlagError(cmd *cobra.Command, err error) error {
	var own Exit // of a flag's own value
	if errors.As(err, &own) {
		return Usagef("%s%w", in(cmd), own)
	}
	text := FirstLine(err.Error())
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		return Usagef("%s--%s: %s", in(cmd), bad.GetFlag().Name, wrongValue(bad.GetFlag().Value.Type(), bad.GetValue()))
	}
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := strictyaml.Nearest(name, names); near != "" {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	return Usagef("%s%s", in(cmd), text)
}

// wrongValue says of a flag's value what it should have been; kind is pflag's word for its type.
func wrongValue(kind, value string) string {
	want := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint": "a whole number of at least 0", "uint32": "a whole number of at least 0",
		"uint64": "a whole number of at least 0", "float64": "a number", "bool": "true or false", "duration": `a duration, such as "30s" or "5m"`,
	}[kind]
	if want == "" {
		want = noun.A(kind)
	}
	if digits := strings.TrimLeft(value, "+-"); digits != "" && strings.Trim(digits, "0123456789") == "" && strings.HasPrefix(want, "a whole number") &&
		(value[0] != '-' || !strings.HasSuffix(want, "of at least 0")) {
		return fmt.Sprintf("%s is out of range", value) // it is a number
	}
	return fmt.Sprintf("%q is not %s", value, want)
}

// in is how an error of a command begins: "lab up: ", or nothing for the program itself.
func in(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path + ": "
}
