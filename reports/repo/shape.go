package repo

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// linesMax is the length at which a file has stopped being about one noun. Generated files and tests may be longer.
const linesMax = 500

// vague are words that name no thing a user would say; what ends up under them has no reason to be together.
const vague = "util utils common helper helpers base types misc shared lib"

func packageDocs() Rule {
	return Rule{
		Name: "package-docs",
		Why:  "a reader who opens a package meets one text that says what it decides; two texts contradict each other in time",
		Check: func(t *Tree) []Finding {
			var found []Finding
			by, order := t.folders()
			for _, folder := range order {
				var where []string
				code := false
				for _, s := range by[folder] {
					code = code || !s.Test()
					if !s.Test() && s.Syntax.Doc != nil {
						where = append(where, path.Base(s.Path))
					}
				}
				if code && len(where) != 1 {
					found = append(found, Finding{Path: folder, What: fmt.Sprintf("has %d package comments, want one (%s)",
						len(where), strings.Join(where, ", "))})
				}
			}
			return found
		},
	}
}

func nounNames() Rule {
	return Rule{
		Name: "noun-names",
		Why:  "a folder or file called util collects what nobody can find again",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, s := range t.Sources {
				name := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.Path), ".go"), "_test")
				if word(vague, name) || word(vague, s.Syntax.Name.Name) || word(vague, path.Base(s.Folder())) {
					found = append(found, Finding{Path: s.Path, What: "is named after no thing"})
				}
			}
			return found
		},
	}
}

func fileLength() Rule {
	return Rule{
		Name: "file-length",
		Why:  "a file is read as a whole; past a few screens it has become two files",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, s := range t.Sources {
				n := bytes.Count(s.Text, []byte{'\n'})
				if n > linesMax && !s.Test() && !s.Generated() {
					found = append(found, Finding{Path: s.Path, What: fmt.Sprintf("has %d lines, at most %d", n, linesMax)})
				}
			}
			return found
		},
	}
}

// workplace are traces of the machine on which something was written. They are put together here so that this file
// does not hold them.
var workplace = []string{
	"/" + "work/", "/tmp/" + "bash_jobs", "/root/" + "go/", "/home/" + "runner/",
	"proxy." + "golang.org", "sum." + "golang.org", "registry." + "npmjs.org", "deb." + "debian.org",
}

func workplaceWords() Rule {
	return Rule{
		Name: "workplace",
		Why:  "a path or host of the machine where a file was written is wrong on every other machine",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, f := range t.Files {
				if f.Path == "go.sum" {
					continue
				}
				for i, line := range bytes.Split(f.Text, []byte{'\n'}) {
					for _, w := range workplace {
						if bytes.Contains(line, []byte(w)) {
							found = append(found, Finding{Path: f.Path, Line: i + 1, What: "names " + w})
						}
					}
				}
			}
			return found
		},
	}
}

func license() Rule {
	return Rule{
		Name: "license",
		Why:  "without a license nobody may use what is here",
		Check: func(t *Tree) []Finding {
			for _, f := range t.Files {
				if f.Path == "LICENSE" && bytes.Contains(f.Text, []byte("Apache License")) &&
					bytes.Contains(f.Text, []byte("Version 2.0")) {
					return nil
				}
			}
			return []Finding{{Path: "LICENSE", What: "the Apache License 2.0 is not there"}}
		},
	}
}

func scenarioGoals() Rule {
	return Rule{
		Name: "scenario-goals",
		Why:  "the opening comment is the goal that reports print; a scenario without one fails without anybody knowing what it was for",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, f := range t.Files {
				if !strings.HasPrefix(f.Path, "scenarios/catalog/") || path.Ext(f.Path) != ".yaml" {
					continue
				}
				first, _, _ := bytes.Cut(f.Text, []byte{'\n'})
				words := bytes.TrimSpace(bytes.TrimLeft(first, "#"))
				if !bytes.HasPrefix(first, []byte("#")) || len(words) == 0 {
					found = append(found, Finding{Path: f.Path, Line: 1, What: "does not open with a comment that says its goal"})
				}
			}
			return found
		},
	}
}
