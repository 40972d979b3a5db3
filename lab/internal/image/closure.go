package image

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Missing is a library that a file needs and this machine does not have.
type Missing struct{ File, Library string }

// String is a line for people.
func (m Missing) String() string { return m.File + " needs " + m.Library + ", which is not here" }

// Libraries lists every shared library that a program needs, with its loader; none for a static one. A library that is
// missing is an error.
func Libraries(ctx context.Context, program string) ([]string, error) {
	libraries, missing, err := closure(ctx, []string{program}, "")
	if err == nil && len(missing) > 0 {
		err = errors.New(missing[0].String())
	}
	return libraries, err
}

// closure lists every shared library that the files need, the loader included, sorted, by the paths at which the loader
// finds them. Files that are no dynamic ELF need none. loader is that of the first file, for those that name none
// themselves, as plugins do.
func closure(ctx context.Context, files []string, loader string) (libraries []string, missing []Missing, err error) {
	seen := map[string]bool{}
	for _, file := range files {
		own, dynamic, err := interpreter(file)
		if err != nil {
			return nil, nil, err
		}
		if !dynamic {
			continue
		}
		if own == "" {
			own = loader
		}
		if own == "" {
			return nil, nil, fmt.Errorf("%s names no loader", file)
		}
		text, err := exec.CommandContext(ctx, own, "--list", file).Output()
		if err != nil && len(text) == 0 {
			return nil, nil, fmt.Errorf("%s --list %s: %w", own, file, err)
		}
		found, lost := parseList(string(text))
		for _, library := range lost {
			missing = append(missing, Missing{file, library})
		}
		for _, library := range append(found, own) {
			if !seen[library] {
				seen[library] = true
				libraries = append(libraries, library)
			}
		}
	}
	slices.Sort(libraries)
	return libraries, missing, nil
}

// interpreter is the loader that an ELF file names, empty where it names none; dynamic: it needs one.
func interpreter(file string) (loader string, dynamic bool, err error) {
	f, err := elf.Open(file)
	var format *elf.FormatError
	if errors.As(err, &format) {
		return "", false, nil // a script
	}
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }() // reading only
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_DYNAMIC:
			dynamic = true
		case elf.PT_INTERP:
			text := make([]byte, p.Filesz)
			if _, err := p.ReadAt(text, 0); err != nil {
				return "", false, fmt.Errorf("%s: %w", file, err)
			}
			loader = strings.TrimRight(string(text), "\x00")
		}
	}
	return loader, dynamic, nil
}

// parseList reads what a loader's --list prints, one line for each library: "name => path (address)", "path (address)"
// for what has no other name, "name (address)" for what the kernel brings, "name => not found".
func parseList(text string) (found, missing []string) {
	for line := range strings.Lines(text) {
		name, path, mapped := strings.Cut(strings.TrimSpace(line), " => ")
		if !mapped {
			path = name
		}
		if path == "not found" {
			missing = append(missing, name)
			continue
		}
		if i := strings.LastIndex(path, " (0x"); i >= 0 {
			path = path[:i]
		}
		if filepath.IsAbs(path) {
			found = append(found, filepath.Clean(path))
		}
	}
	return found, missing
}
