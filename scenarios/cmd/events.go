package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Routine words say how something was done, a hundred times a second, and not what was done. `--events notable` leaves
// out the lines that begin with one of routine, or have one of routineOn behind a node's name.
var (
	routine   = [][]byte{[]byte("link"), []byte("watch"), []byte("scheduler"), []byte("informer")}
	routineOn = [][]byte{[]byte("call"), []byte("wake"), []byte("synced"), []byte("answer")}
)

// eventFile is events.jsonl of one command, put together from the parts of its runs.
type eventFile struct {
	reports Reports
	dir     string
	all     bool
	file    *os.File
	// begun: it holds a run.
	begun bool
}

// openEvents starts the file in a folder.
func openEvents(r Reports, dir string, all bool) (*eventFile, error) {
	f, err := os.Create(filepath.Join(dir, r.EventsFile))
	if err != nil {
		return nil, err
	}
	return &eventFile{reports: r, dir: dir, all: all, file: f}, nil
}

// eventPart is the lines of one run. They wait in a file of their own, because runs overlap and lines may be many.
type eventPart struct {
	file *os.File
	log  EventLog
	all  bool
}

// part starts one run's lines; nil when no lines are kept.
func (e *eventFile) part(scenario, world string, seed uint64) (*eventPart, error) {
	if e == nil {
		return nil, nil
	}
	f, err := os.CreateTemp(e.dir, ".events-*")
	if err != nil {
		return nil, err
	}
	p := &eventPart{file: f, log: e.reports.Events(f), all: e.all}
	p.log.Begin(scenario, world, seed)
	return p, nil
}

func (p *eventPart) event(seq int64, at time.Duration, line []byte) {
	if p.all || notable(line) {
		p.log.Event(seq, at, line)
	}
}

// notable reports whether a line says what happened rather than how.
func notable(line []byte) bool {
	first, rest, _ := bytes.Cut(line, []byte{' '})
	second, _, _ := bytes.Cut(rest, []byte{' '})
	return !isOne(routine, first) && !isOne(routineOn, second)
}

func isOne(words [][]byte, word []byte) bool {
	for _, w := range words {
		if bytes.Equal(w, word) {
			return true
		}
	}
	return false
}

// incomplete ends the file with a line that says what is missing.
func (e *eventFile) incomplete(why string) error { return tellIncomplete(e.file, why) }

func tellIncomplete(w io.Writer, why string) error {
	line, err := json.Marshal(map[string]string{"incomplete": why})
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// take appends a run's lines and removes their waiting place. cut says why they end before the run, "" for a whole run.
// The first run's waiting place becomes the file itself: lines of a single run may be gigabytes.
func (e *eventFile) take(p *eventPart, cut string) error {
	if e == nil || p == nil {
		return nil
	}
	err := p.log.Flush()
	if cut != "" && err == nil {
		err = tellIncomplete(p.file, cut)
	}
	if !e.begun && err == nil {
		e.begun = true
		if err = os.Rename(p.file.Name(), e.file.Name()); err != nil {
			return errors.Join(err, p.file.Close())
		}
		err = errors.Join(e.file.Close(), p.file.Chmod(0o644))
		e.file = p.file
		return err
	}
	defer func() { _ = os.Remove(p.file.Name()) }() // a leftover is only untidy
	if err == nil {
		_, err = p.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(e.file, p.file)
	}
	return errors.Join(err, p.file.Close())
}

// drop removes a run's lines, which are not wanted.
func (e *eventFile) drop(p *eventPart) {
	if e != nil && p != nil {
		_ = errors.Join(p.file.Close(), os.Remove(p.file.Name())) // a leftover is only untidy
	}
}

func (e *eventFile) close() error { return e.file.Close() }
