package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Format is how a command prints its results. It is a flag's value, which refuses other words while flags are parsed.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
)

// AddFormat gives a command the flag --format.
func AddFormat(cmd *cobra.Command, into *Format) { AddFormatTo(cmd.Flags(), into) }

// AddFormatTo adds the flag --format to a set of flags.
func AddFormatTo(flags *pflag.FlagSet, into *Format) {
	*into = Text
	flags.Var(into, "format", "what to print: text or json")
}

// String implements pflag.Value.
func (f *Format) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *Format) Set(word string) error {
	if err := OneOf("--format", word, string(Text), string(JSON)); err != nil {
		return err
	}
	*f = Format(word)
	return nil
}

// Type implements pflag.Value.
func (*Format) Type() string { return "string" }

// WriteJSON prints a value for programs.
func WriteJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
