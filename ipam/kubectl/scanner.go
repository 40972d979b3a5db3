package kubectl

import (
	"bytes"
	"io"
)

// scanner takes a text apart into values of JSON without looking into them: what is wrong inside of a value, whoever
// decodes it says.
type scanner struct {
	lines *lines
	// buf is the part of the text in memory, from offset base on; at is the next byte in it.
	buf  []byte
	base int64
	at   int
	// end is why there is no more.
	end error
}

// offset is where the scanner is in the text.
func (s *scanner) offset() int64 { return s.base + int64(s.at) }

// fill reads on. Bytes from at on keep their distance to it.
func (s *scanner) fill() bool {
	if s.end != nil {
		return false
	}
	n := copy(s.buf, s.buf[s.at:])
	s.base, s.buf, s.at = s.base+int64(s.at), s.buf[:n], 0
	if n == cap(s.buf) {
		s.buf = append(make([]byte, 0, max(64<<10, 2*n)), s.buf...)
	}
	for {
		more, err := s.lines.Read(s.buf[n:cap(s.buf)])
		s.buf = s.buf[:n+more]
		s.end = err
		if more > 0 || err != nil {
			return more > 0
		}
	}
}

// next is the next byte that is no space; 0 at the end of the text.
func (s *scanner) next() byte {
	for {
		for ; s.at < len(s.buf); s.at++ {
			if c := s.buf[s.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return c
			}
		}
		if !s.fill() {
			return 0
		}
	}
}

// over is the error at a place where more is wanted.
func (s *scanner) over() error {
	if s.end != nil && s.end != io.EOF {
		return s.end
	}
	return io.ErrUnexpectedEOF
}

// value is the next value and where it begins. It is good until the scanner goes on.
func (s *scanner) value() (raw []byte, begin int64, err error) {
	if s.next() == 0 {
		return nil, 0, s.over()
	}
	depth, i := 0, 0 // i is behind at
	for {
		if s.at+i == len(s.buf) {
			if !s.fill() {
				if depth == 0 && i > 0 { // a number or a word at the end
					break
				}
				s.at = len(s.buf)
				return nil, 0, s.over()
			}
			continue
		}
		switch c := s.buf[s.at+i]; {
		case c == '"':
			if i, err = s.text(i + 1); err != nil {
				return nil, 0, err
			}
		case c == '{' || c == '[':
			depth++
			i++
		case (c == '}' || c == ']') && depth > 0:
			depth--
			i++
		case depth == 0 && (i > 0 || c == '}' || c == ']') && bytes.IndexByte([]byte(" \t\r\n,:}]"),
			c) >= 0: // a number or a word ends
			return s.take(i)
		default:
			i++
			continue
		}
		if depth == 0 {
			break
		}
	}
	return s.take(i)
}

func (s *scanner) take(i int) ([]byte, int64, error) {
	raw, begin := s.buf[s.at:s.at+i], s.offset()
	s.at += i
	return raw, begin, nil
}

// text is where a text ends, whose first quote is in front of i.
func (s *scanner) text(i int) (int, error) {
	for {
		n := bytes.IndexAny(s.buf[s.at+i:], `"\`)
		switch {
		case n >= 0 && s.buf[s.at+i+n] == '"':
			return i + n + 1, nil
		case n >= 0 && s.at+i+n+1 < len(s.buf):
			i += n + 2
		case n >= 0:
			i += n // what is escaped is not read yet
			fallthrough
		default:
			if n < 0 {
				i = len(s.buf) - s.at
			}
			if !s.fill() {
				s.at = len(s.buf)
				return 0, s.over()
			}
		}
	}
}
