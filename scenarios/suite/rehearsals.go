package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
)

// rehearsal is one scenario that becomes a spec.
type rehearsal struct {
	s *scenarios.Scenario
	// topic is the name of the folder in which its file lies, empty for none.
	topic string
}

// rehearsals collects what Options name. A name stands for one scenario: reports and replays go by it.
func (o *Options) rehearsals() ([]rehearsal, error) {
	list := o.Scenarios
	if o.Scenarios == nil && o.Folder == "" {
		var err error
		if list, err = catalog.All(); err != nil {
			return nil, err
		}
	}
	var all []rehearsal
	for _, s := range list {
		all = append(all, rehearsal{s, topicOf(s.File)})
	}
	if o.Folder != "" {
		found, err := inFolder(o.Folder)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, errors.New("no scenario to run")
	}
	files := map[string]string{}
	for _, r := range all {
		if other, ok := files[r.s.Name]; ok {
			return nil, fmt.Errorf("two scenarios are called %s: %q and %q", r.s.Name, other, r.s.File)
		}
		files[r.s.Name] = r.s.File
	}
	return all, nil
}

// inFolder loads every scenario file of a folder. Files in the folder itself have no topic: its name says where they
// lie and not what they are about.
func inFolder(folder string) ([]rehearsal, error) {
	var all []rehearsal
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ext := filepath.Ext(file); d.IsDir() || ext != ".yaml" && ext != ".yml" {
			return nil
		}
		s, err := scenarios.Load(file)
		if err != nil {
			return err
		}
		topic := ""
		if filepath.Dir(file) != filepath.Clean(folder) {
			topic = topicOf(file)
		}
		all = append(all, rehearsal{s, topic})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no scenario file in %s", folder)
	}
	return all, nil
}

// topicOf is the name of a file's folder when it can be a Ginkgo label, else empty.
func topicOf(file string) string {
	topic := path.Base(path.Dir(filepath.ToSlash(file)))
	if topic != strings.TrimSpace(topic) || strings.ContainsAny(topic, "&|!,()/:.") {
		return ""
	}
	return topic
}
