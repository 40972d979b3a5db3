package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Names of the files in a report's folder.
const (
	ResultFile = "result.json"
	EventsFile = "events.jsonl"
	JUnitFile  = "junit.xml"
	PageFile   = "report.html"
)

// WriteFolder writes result.json, junit.xml and report.html into dir, which is made when absent. Each file is written
// beside its place and renamed, so that a reader never meets half of one. events.jsonl is written while running, by
// EventLog.
func WriteFolder(dir string, r Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the report's folder: %w", err)
	}
	files := []struct {
		name  string
		write func(io.Writer, Report) error
	}{
		{ResultFile, WriteJSON}, {JUnitFile, WriteJUnit}, {PageFile, WriteHTML},
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, f.name), func(w io.Writer) error { return f.write(w, r) }); err != nil {
			return err
		}
	}
	return nil
}

// writeFile puts a complete file at name or leaves what was there.
func writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", name, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(write(w), w.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
