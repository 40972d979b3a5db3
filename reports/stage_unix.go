//go:build unix

package reports

import (
	"errors"
	"os"

	"github.com/vppdrill/vppdrill/vppwire/filelock"
)

// lockStage holds a stage until the file is closed, or this process ends. nil, without an error, is a lock that cannot be had here.
func lockStage(stage string) (*os.File, error) {
	f, err := os.Open(stage)
	if err != nil {
		return nil, err
	}
	if err := filelock.Try(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
