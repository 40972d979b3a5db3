package inputfile

import (
	"fmt"
	"io"
	"os"
)

// Most is how many bytes a file that people write may have: a month of a real cluster is two megabytes. More is a
// device, a disk image or a mistake, and would fill the memory before anything could say so.
const Most = 64 << 20

// Read reads a whole file of at most Most bytes, which may be a pipe.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice != 0 && path != "/dev/stdin" && path != os.DevNull {
		return nil, fmt.Errorf("read %s: it is a device", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, Most+1))
	if err == nil && len(data) > Most {
		return nil, fmt.Errorf("read %s: it has more than %d MiB", path, Most>>20)
	}
	return data, err
}
