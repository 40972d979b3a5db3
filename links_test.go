package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// pages are all Markdown files that a reader may follow links in.
func pages(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	return list
}

var (
	// pageLink is a link or a picture of Markdown; pageHeading a heading.
	pageLink    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// Goal: no link of a page leads nowhere. Method: every link of every page: files must be there, fragments must be headings of their page, and
// pages of the site link to nothing outside of docs but by the repository's address, which a site has not.
func TestLinks(t *testing.T) {
	number := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range linksOf(string(text)) {
			number++
			if problem := problemOf(page, link); problem != "" {
				t.Errorf("%s: %s: %s", page, link, problem)
			}
		}
	}
	if number < 60 {
		t.Errorf("%d links: the look is blind", number)
	}
	for link, wrong := range map[string]bool{"docs/index.md": false, "docs/nowhere.md": true, "#build-and-test": false, "#nowhere": true,
		"docs/glossary.md#capsule": false, "docs/glossary.md#nothing": true} {
		if got := problemOf("CONTRIBUTING.md", link) != ""; got != wrong {
			t.Errorf("a link to %s: wrong %v, want %v", link, got, wrong)
		}
	}
}

// linksOf are the links of a page outside of its code.
func linksOf(text string) (links []string) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "    ") {
			continue
		}
		for _, m := range pageLink.FindAllStringSubmatch(line, -1) {
			links = append(links, m[1])
		}
	}
	return links
}

// problemOf is what is wrong with a link of a page; "" for nothing.
func problemOf(page, link string) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return ""
	}
	file, fragment, _ := strings.Cut(link, "#")
	target := page
	if file != "" {
		target = filepath.Join(filepath.Dir(page), file)
		if strings.HasPrefix(page, "docs/") && !strings.HasPrefix(target, "docs/") {
			return "leads out of the site"
		}
	}
	text, err := os.ReadFile(target)
	if info, failed := os.Stat(target); failed == nil && info.IsDir() {
		err = nil
	}
	switch {
	case err != nil:
		return "is not there"
	case fragment != "" && !slices.Contains(anchorsOf(string(text)), fragment):
		return fmt.Sprintf("%s has no heading %s", target, fragment)
	}
	return ""
}

// anchorsOf are the fragments of a page's headings, as GitHub and MkDocs make them.
func anchorsOf(text string) (anchors []string) {
	for _, m := range pageHeading.FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1])))
	}
	return anchors
}

// Goal: a number of things that a page names is the number of them. Method: each phrase with what the code has; a phrase that is not there any
// more is said as well, so that the table stays true.
func TestCounts(t *testing.T) {
	tutorials, err := filepath.Glob("docs/tutorials/*.md")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	jobs, systems := 0, 0
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	jobs = strings.Count(string(readme), "\n**")
	for _, e := range entriesOf(t, "settings") {
		if e.Name == "config.ipam.system" {
			systems = len(strings.Split(e.Type, ","))
		}
	}
	for _, c := range []struct {
		page, phrase string
		n            int
	}{
		{"README.md", "%s tutorials", len(tutorials)},
		{"README.md", "%s jobs", jobs},
		{"CHANGELOG.md", "%s address management systems", systems},
	} {
		text, err := os.ReadFile(c.page)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(c.phrase, words[c.n]); !strings.Contains(strings.ToLower(string(text)), want) {
			t.Errorf("%s does not say %q", c.page, want)
		}
	}
}
