package kubectl

// depthMost is how deep values lie within each other at most, as encoding/json has it.
const depthMost = 10000

// valid is json.Valid at several times its speed: most of an export is in parts that nobody reads.
func valid(raw []byte) bool {
	c := checker{raw: raw}
	ok := c.value(0)
	c.space()
	return ok && c.at == len(raw)
}

// checker goes through a text of JSON; at is the next byte.
type checker struct {
	raw []byte
	at  int
}

// space skips spaces; it returns the byte behind them, 0 at the end.
func (c *checker) space() byte {
	for ; c.at < len(c.raw); c.at++ {
		if b := c.raw[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

func (c *checker) value(depth int) bool {
	switch b := c.space(); b {
	case '{', '[':
		c.at++
		return depth < depthMost && c.within(b, depth)
	case '"':
		return c.text()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	return c.number()
}

// within goes through the fields of an object or the elements of an array.
func (c *checker) within(open byte, depth int) bool {
	end := open + 2 // '}' and ']' stand two behind '{' and '['
	if c.space() == end {
		c.at++
		return true
	}
	for {
		if open == '{' {
			if c.space() != '"' || !c.text() || c.space() != ':' {
				return false
			}
			c.at++
		}
		if !c.value(depth + 1) {
			return false
		}
		switch c.space() {
		case end:
			c.at++
			return true
		case ',':
			c.at++
		default:
			return false
		}
	}
}

func (c *checker) text() bool {
	for i := c.at + 1; i < len(c.raw); i++ {
		switch b := c.raw[i]; {
		case b == '"':
			c.at = i + 1
			return true
		case b < ' ':
			return false
		case b == '\\':
			if i++; i == len(c.raw) {
				return false
			}
			switch c.raw[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if i++; i == len(c.raw) || !isHex(c.raw[i]) {
						return false
					}
				}
			default:
				return false
			}
		}
	}
	return false
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }

func (c *checker) word(w string) bool {
	ok := len(c.raw)-c.at >= len(w) && string(c.raw[c.at:c.at+len(w)]) == w
	c.at += len(w)
	return ok
}

func (c *checker) number() bool {
	c.skip('-')
	if !c.skip('0') && !c.digits() {
		return false
	}
	if c.skip('.') && !c.digits() {
		return false
	}
	if c.skip('e') || c.skip('E') {
		_ = c.skip('+') || c.skip('-')
		return c.digits()
	}
	return true
}

func (c *checker) skip(b byte) bool {
	if c.at < len(c.raw) && c.raw[c.at] == b {
		c.at++
		return true
	}
	return false
}

func (c *checker) digits() bool {
	from := c.at
	for c.at < len(c.raw) && c.raw[c.at] >= '0' && c.raw[c.at] <= '9' {
		c.at++
	}
	return c.at > from
}
