package scenarios

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
)

// ErrFallen says that a world broke: what is still asked of it means nothing, and its run cannot be judged.
var ErrFallen = errors.New("the world cannot go on")

// modulePath begins the names of this module's functions.
const modulePath = "github.com/vppdrill/vppdrill/"

// framesMost is how many functions a panic is told with.
const framesMost = 5

// PanicText tells of a panic with where it was: v is what recover returned, where PanicFrames' result.
func PanicText(v any, where []string) string {
	return fmt.Sprintf("panic: %v, in %s", v, strings.Join(where[:min(len(where), framesMost)], ", called by "))
}

// PanicFrames are this module's functions below a panic, the innermost first: "ipam/space.(*Bitmap).Set (bitmap.go:70)". It is called by the deferred function
// that recovers.
func PanicFrames() []string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var names []string
	for {
		f, more := frames.Next()
		if name, ok := strings.CutPrefix(f.Function, modulePath); ok {
			names = append(names, fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line))
		}
		if !more {
			return slices.Clip(names)
		}
	}
}

// Recover is what read returns. Where it panics, that is a scenario of the file's name which cannot be judged and says why, so that the others of a batch run all
// the same.
func Recover(file string, read func() (*Scenario, error)) (s *Scenario, err error) {
	defer func() {
		if v := recover(); v != nil {
			panicked := Default()
			panicked.Name, panicked.File = strings.TrimSuffix(path.Base(file), path.Ext(file)), file
			panicked.unreadable = fmt.Errorf("%w: it cannot be read: %s", ErrFallen, PanicText(v, PanicFrames()))
			s, err = &panicked, nil
		}
	}()
	return read()
}
