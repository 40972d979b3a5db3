package catalog

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

//go:embed */*.yaml
var files embed.FS

// folder is this package's folder in the repository, so that a scenario's File leads to the file.
const folder = "scenarios/catalog"

// All parses every scenario and returns them ordered by topic, then name. Its error is the first file's that does not parse.
func All() ([]*scenarios.Scenario, error) {
	names, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	slices.Sort(names)
	all := make([]*scenarios.Scenario, 0, len(names))
	for _, name := range names {
		s, err := load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// ByName finds a scenario by its name. The error names the nearest one.
func ByName(name string) (*scenarios.Scenario, error) {
	found, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	names := make([]string, len(found))
	for i, file := range found {
		base := path.Base(file)
		names[i] = base[:len(base)-len(".yaml")]
		if names[i] == name {
			return load(file)
		}
	}
	return nil, &scenarios.InputError{
		Message: fmt.Sprintf("the catalogue holds no scenario %q", name), Nearest: strictyaml.Nearest(name, names),
	}
}

func load(name string) (*scenarios.Scenario, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	file := path.Join(folder, name)
	return scenarios.Recover(file, func() (*scenarios.Scenario, error) { return scenarios.Parse(file, data) })
}
