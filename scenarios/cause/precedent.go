package cause

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Precedents are passing runs, for comparison with a later failing run of the same scenario and seed. They hold the
// runs' steps without names and numbers. The zero Precedents has none.
type Precedents struct {
	runs  map[string]*precedent
	texts []string
	ids   map[string]uint32
}

// NameOf names the run of a scenario with a seed. A changed scenario has another name.
func NameOf(s *scenarios.Scenario, seed uint64) string {
	h := fnv.New32a()
	_, _ = h.Write(s.Marshal())
	return fmt.Sprintf("%s/%d/%08x", s.Name, seed, h.Sum32())
}

// precedent is one run, column by column.
type precedent struct {
	Actors []string
	// Who and What are indices of actors and texts, Gap the time since the previous step in microseconds, each a uvarint;
	// Mark one byte each.
	Who, What, Gap, Mark []byte
	// Words are the full texts of the steps that worded selects, with names and numbers, one per line.
	Words string
}

// deedsMost is how many steps of a run are kept.
const deedsMost = 40_000

// Keep adds a whole passing run under its name.
func (p *Precedents) Keep(name string, r *Recorder) {
	if len(r.events) == 0 {
		return
	}
	if p.runs == nil {
		p.runs = map[string]*precedent{}
	}
	if p.ids == nil {
		p.ids = map[string]uint32{}
	}
	x := &precedent{}
	var words strings.Builder
	actors := map[string]int{}
	var at time.Duration
	for _, d := range r.start(deedsMost) {
		if _, ok := actors[d.actor]; !ok {
			actors[d.actor] = len(x.Actors)
			x.Actors = append(x.Actors, d.actor)
		}
		id, ok := p.ids[d.text]
		if !ok {
			id = uint32(len(p.texts))
			p.ids[d.text] = id
			p.texts = append(p.texts, d.text)
		}
		x.Who = binary.AppendUvarint(x.Who, uint64(actors[d.actor]))
		x.What = binary.AppendUvarint(x.What, uint64(id))
		x.Gap = binary.AppendUvarint(x.Gap, uint64((d.at-at)/time.Microsecond))
		x.Mark = append(x.Mark, d.mark)
		if worded(d.text) {
			words.WriteString(r.tellWhole(&d) + "\n")
		}
		at += (d.at - at) / time.Microsecond * time.Microsecond
	}
	x.Words = words.String()
	p.runs[name] = x
}

// worded reports whether a step is kept with its text. Steps that change something are, so that a chain can quote the
// passing run's counterpart. Journal records are not, because they have random names and times, and reads are not.
func worded(text string) bool {
	switch head, rest, _ := strings.Cut(text, " "); head {
	case "decides":
		return !strings.HasPrefix(rest, "writes ")
	case "fact":
		return true
	case "link":
		return writing(text)
	default:
		return strings.HasPrefix(text, "@ answer request") || strings.HasPrefix(text, "@ call ") &&
			!strings.Contains(text, "dump")
	}
}

// textsFile is the archive's file of texts; a run's file has its name. Its name changes with worded and plain, because
// older files would be misread.
const textsFile = "texts"

// ErrOtherPrecedents says that runs were kept by an incompatible version.
var ErrOtherPrecedents = errors.New("kept by an incompatible version of vppdrill")

// Write writes them in ReadPrecedents' format: an archive with a file for each run, so that one is found without
// reading the others.
func (p *Precedents) Write(w io.Writer) error {
	z := zip.NewWriter(w)
	add := func(name string, x any) error {
		f, err := z.Create(name)
		if err != nil {
			return err
		}
		return gob.NewEncoder(f).Encode(x)
	}
	err := add(textsFile, p.texts)
	for _, name := range slices.Sorted(maps.Keys(p.runs)) {
		err = errors.Join(err, add(name, p.runs[name]))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("write precedents: %w", err)
	}
	return nil
}

// Open reads the output of Write, to compare runs with them and to add more.
func Open(archive []byte) (*Precedents, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("precedents: %w", err)
	}
	if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == textsFile }) {
		return nil, fmt.Errorf("precedents: %w", ErrOtherPrecedents)
	}
	p := &Precedents{runs: map[string]*precedent{}, ids: map[string]uint32{}}
	for _, f := range z.File {
		if f.Name == textsFile {
			err = decode(f, &p.texts)
		} else {
			p.runs[f.Name] = &precedent{}
			err = decode(f, p.runs[f.Name])
		}
		if err != nil {
			return nil, err
		}
	}
	for id, text := range p.texts {
		p.ids[text] = uint32(id)
	}
	return p, nil
}

func decode(f *zip.File, x any) error {
	r, err := f.Open()
	if err == nil {
		err = gob.NewDecoder(r).Decode(x)
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return fmt.Errorf("precedents: %s: %w", f.Name, err)
	}
	return nil
}

// Has reports whether a run with a name exists; nil Precedents have none.
func (p *Precedents) Has(name string) bool { return p != nil && p.runs[name] != nil }

// Whole reports whether a run with a name was kept to its end.
func (p *Precedents) Whole(name string) bool {
	return p.Has(name) && len(p.runs[name].Mark) < deedsMost
}

// errPrecedent is a file with another format.
var errPrecedent = errors.New("precedents: a column ends early")

// deeds are the steps of a run.
func (p *Precedents) deeds(name string) ([]deed, error) {
	x := p.runs[name]
	if x == nil {
		return nil, nil
	}
	list := make([]deed, 0, len(x.Mark))
	who, what, gap := x.Who, x.What, x.Gap
	var at time.Duration
	words := strings.Split(x.Words, "\n")
	next := func(column *[]byte) uint64 {
		v, n := binary.Uvarint(*column)
		*column = (*column)[max(n, 0):]
		return v
	}
	for i, mark := range x.Mark {
		a, t := next(&who), next(&what)
		if a >= uint64(len(x.Actors)) || t >= uint64(len(p.texts)) {
			return nil, errPrecedent
		}
		at += time.Duration(next(&gap)) * time.Microsecond
		text := p.texts[t]
		inner := strings.HasPrefix(text, "decides ") || strings.HasPrefix(text, "fact ")
		d := deed{step: step{actor: x.Actors[a], text: text}, event: int64(i), at: at, mark: mark, inner: inner}
		if worded(text) && len(words) > 0 {
			d.told, words = words[0], words[1:]
		}
		list = append(list, d)
	}
	return slices.Clip(list), nil
}
