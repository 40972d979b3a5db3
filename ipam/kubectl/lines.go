package kubectl

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// objectMost is how long one object may be: a server takes some megabytes, and what never ends would fill the memory.
const objectMost = 64 << 20

var errTooLong = fmt.Errorf("an object of more than %d MiB", objectMost>>20)

// lines is a text that is read once, and knows of its newest part where lines begin.
type lines struct {
	text io.Reader
	// read is how much of it has been read; kept is from where on breaks are known, before counts those in front, and
	// line is where the line of kept begins.
	read, kept, line int64
	before           int
	// breaks are the offsets of line breaks from kept on.
	breaks []int64
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	if l.read-l.kept > objectMost {
		return 0, errTooLong
	}
	n, err := l.text.Read(p)
	for rest, at := p[:n], l.read; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		l.breaks = append(l.breaks, at+int64(i))
		rest, at = rest[i+1:], at+int64(i)+1
	}
	l.read += int64(n)
	return n, err
}

// forget says that nothing in front of an offset will be asked for.
func (l *lines) forget(to int64) {
	n, _ := slices.BinarySearch(l.breaks, to)
	if n > 0 {
		l.line = l.breaks[n-1] + 1
	}
	l.breaks = slices.Delete(l.breaks, 0, n)
	l.before, l.kept = l.before+n, to
}

// place is the line and the column of the byte in front of an offset, from 1 on.
func (l *lines) place(at int64) (line, column int) {
	n, _ := slices.BinarySearch(l.breaks, at)
	begin := l.line
	if n > 0 {
		begin = l.breaks[n-1] + 1
	}
	return 1 + l.before + n, int(max(1, at-begin))
}
