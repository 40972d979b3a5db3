package cmd

import (
	"io"
	"log/slog"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// logger writes a command's log for people or programs.
func logger(command string, out io.Writer, format cli.Format, level string) (*slog.Logger, error) {
	var l slog.Level
	switch level {
	case "debug", "info", "warn", "error":
		if err := l.UnmarshalText([]byte(level)); err != nil {
			return nil, err
		}
	default:
		return nil, cli.Usagef("%s: --log-level %q is none of debug, info, warn, error", command, level)
	}
	options := &slog.HandlerOptions{Level: l}
	if format == cli.JSON {
		return slog.New(slog.NewJSONHandler(out, options)), nil
	}
	return slog.New(slog.NewTextHandler(out, options)), nil
}
