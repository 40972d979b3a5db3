package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// plant rewrites a file so that it holds all of its mutants, each behind its switch. Lines keep their numbers.
func plant(s *source, mutants []*Mutant) []byte {
	end := s.offset(s.syntax.Name.End())
	edits := []edit{{from: end, to: end, text: "; import " + switchName + " " + strconv.Quote(module+"/"+switchName)}}
	for i, m := range mutants {
		for _, e := range m.guarded(onExpr(m.Number), m.Number) {
			e.pair = i
			edits = append(edits, e)
		}
	}
	return apply(s.text, edits)
}

// Build builds the tree's program with all mutants planted into it, as the file program. Rewritten files go to the
// folder scratch.
func Build(ctx context.Context, root, scratch, program string, mutants []*Mutant) error {
	list, err := layOut(root, scratch, mutants)
	if err != nil {
		return err
	}
	return build(ctx, root, "-overlay", list, "-o", program)
}

// layOut writes the rewritten files and the list of what they replace, whose name it returns.
func layOut(root, scratch string, mutants []*Mutant) (list string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return "", err
	}
	by := map[*source][]*Mutant{}
	var order []*source
	for _, m := range mutants {
		if by[m.src] == nil {
			order = append(order, m.src)
		}
		by[m.src] = append(by[m.src], m)
	}
	overlay := map[string]string{}
	lay := func(at, name string, text []byte) error {
		file := filepath.Join(scratch, name)
		overlay[at] = file
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o644)
	}
	if err := lay(filepath.Join(root, switchName, "switch.go"), switchName+".go", []byte(switches)); err != nil {
		return "", fmt.Errorf("lay out the switches: %w", err)
	}
	for _, s := range order {
		if err := lay(s.file, filepath.FromSlash(s.path), plant(s, by[s])); err != nil {
			return "", fmt.Errorf("lay out %s: %w", s.path, err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", err
	}
	list = filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		return "", fmt.Errorf("lay out the rewritten files: %w", err)
	}
	return list, nil
}

// build runs go build on the tree's program.
func build(ctx context.Context, root string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-trimpath"}, args...), ".")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// askedOf returns the mutants whose switches were asked.
func askedOf(asked []byte, mutants []*Mutant) []*Mutant {
	return slices.DeleteFunc(slices.Clone(mutants), func(m *Mutant) bool { return m.Number >= len(asked) || asked[m.Number] == 0 })
}
