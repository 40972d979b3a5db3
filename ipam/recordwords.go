package ipam

// Eight bytes at a time: the first byte is the lowest of a word. Nothing carries from one byte into the next in what
// follows as long as no byte is what is looked for, so that a word without a mark is certainly clean.
const (
	everyByte = 0x0101010101010101
	topBits   = everyByte << 7
)

// bytes8 are the first eight bytes of text.
func bytes8(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// visible reports whether text has bytes, all of them above the blank and none a slash: it is stricter than plain and
// quicker.
func visible(text string) bool {
	if len(text) < 8 {
		for i := range len(text) {
			if text[i] <= ' ' || text[i] == '/' {
				return false
			}
		}
		return text != ""
	}
	var marks uint64
	for i := 0; i < len(text); i += 8 {
		w := bytes8(text[min(i, len(text)-8):]) // the last eight may overlap the ones before
		slash := w ^ everyByte*'/'
		marks |= (w-everyByte*(' '+1))&^w | (slash-everyByte)&^slash
	}
	return marks&topBits == 0
}

// eightDigits is the number that eight decimal digits spell; false where one of them is none.
func eightDigits(w uint64) (uint64, bool) {
	w -= everyByte * '0'
	if (w|(w+everyByte*(127-9)))&topBits != 0 {
		return 0, false
	}
	// Pairs, then fours, then all: the lower part counts ten times, a hundred times, ten thousand times as much.
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	return (w*10000 + w>>32) & 0xffffffff, true
}
