package lab

import (
	"log/slog"
	"strings"
)

// ControllerLog is what the controllers of a lab log: notes of the run, beside what agents say, and nothing on the terminal.
func ControllerLog(r *Record) *slog.Logger {
	return slog.New(slog.NewTextHandler(notes{r}, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey { // a note has the run's own
			return slog.Attr{}
		}
		return a
	}}))
}

// notes is a record as what lines are written to.
type notes struct{ *Record }

// Write implements io.Writer.
func (n notes) Write(line []byte) (int, error) {
	n.Note(strings.TrimSpace(string(line)))
	return len(line), nil
}
