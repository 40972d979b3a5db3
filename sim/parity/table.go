package parity

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Row is one message of the table.
type Row struct {
	Message string `json:"message"`
	// Asked is how often transcripts ask it, Equal how often the model answers the same.
	Asked int `json:"asked"`
	Equal int `json:"equal"`
	// Retvals are those that VPP answered, ascending by their number's size: 0, -2, -105. Dumps have none.
	Retvals []string `json:"retvals,omitempty"`
	// Gaps are the names of the gaps that were needed.
	Gaps []string `json:"gaps,omitempty"`
}

// Summary is what the recorded conversations say about the model.
type Summary struct {
	// Releases are the recorded VPPs, Transcripts how many conversations there are, Rows all messages that the model
	// answers.
	Releases    []string         `json:"releases"`
	Transcripts int              `json:"transcripts"`
	Rows        []Row            `json:"messages"`
	Gaps        []transcript.Gap `json:"gaps"`
	ModelGaps   []string         `json:"modelGaps"`
	Differences []string         `json:"differences,omitempty"`
	verdicts    []transcript.Verdict
}

// Read reads the transcripts of a release's folder, by name.
func Read(files fs.FS, release string) ([]*transcript.Transcript, error) {
	names, err := fs.Glob(files, release+"/*.txt")
	if err != nil {
		return nil, err
	}
	var all []*transcript.Transcript
	for _, n := range names {
		text, err := fs.ReadFile(files, n)
		if err != nil {
			return nil, err
		}
		t, err := transcript.Read(strings.TrimSuffix(path.Base(n), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Table replays every transcript in files against a model each. The error says that one cannot be read.
func Table(files fs.FS) (*Summary, error) {
	s := &Summary{Gaps: transcript.Gaps(), ModelGaps: vppmodel.Gaps()}
	releases, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	for _, d := range releases {
		if !d.IsDir() {
			continue
		}
		all, err := Read(files, d.Name())
		if err != nil {
			return nil, err
		}
		s.Releases, s.Transcripts = append(s.Releases, d.Name()), s.Transcripts+len(all)
		for _, t := range all {
			verdicts, err := transcript.Replay(t, NewModel().(model).VPP)
			if err != nil {
				return nil, err
			}
			s.verdicts = append(s.verdicts, verdicts...)
		}
	}
	s.fill()
	return s, nil
}

// fill counts the verdicts.
func (s *Summary) fill() {
	type count struct {
		Row
		retvals, gaps map[string]bool
	}
	by := map[string]*count{}
	for _, x := range vppmodel.Exchanges() {
		name := x.Request.GetMessageName()
		by[name] = &count{Row: Row{Message: name}, retvals: map[string]bool{}, gaps: map[string]bool{}}
	}
	for _, v := range s.verdicts {
		name, _, _ := strings.Cut(v.Request, " ")
		c := by[name]
		c.Asked++
		if v.Difference == nil {
			c.Equal++
		} else {
			s.Differences = append(s.Differences, fmt.Sprintf("%s, request %d\n%s", v.Transcript, v.Number, v.Difference))
		}
		for _, g := range v.Gaps {
			c.gaps[g] = true
		}
		for _, a := range v.Answers {
			if retval := retvalOf(a); retval != "" {
				c.retvals[retval] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		c := by[name]
		c.Row.Retvals = slices.SortedFunc(maps.Keys(c.retvals), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		c.Row.Gaps = slices.Sorted(maps.Keys(c.gaps))
		s.Rows = append(s.Rows, c.Row)
	}
}

// retvalOf is a reply's return code; a zero is not written.
func retvalOf(line string) string {
	words := strings.Fields(line)
	if !strings.HasSuffix(words[0], "_reply") {
		return ""
	}
	for _, w := range words[1:] {
		if r, ok := strings.CutPrefix(w, "retval="); ok {
			return r
		}
	}
	return "0"
}
