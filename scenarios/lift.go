package scenarios

import "strings"

// lifted is a workload's rows taken out of a file before YAML sees it: a month of a real cluster is a megabyte, for
// which a YAML scanner needs twenty times as long as the rows' own parser.
type lifted struct {
	// text is the body of the block scalar with its indentation; empty when nothing was lifted.
	text string
	// header is the line of "rows: |", lines how many lines text had before one line replaced them.
	header, lines int
}

// rowsHeader is the only spelling that is lifted out; any other reaches parseRows through YAML.
const rowsHeader = "rows: |"

// liftRows cuts the block scalar below the first line "rows: |" out of source. Its body is every line that is empty or
// indented deeper than that line.
func liftRows(source string) (string, lifted) {
	for offset, line := 0, 1; offset < len(source); line++ {
		end := lineEnd(source, offset)
		text := source[offset:end]
		if margin := indentOf(text); strings.TrimSpace(text) == rowsHeader && margin > 0 {
			body, lines := end, 0
			for body < len(source) {
				next := lineEnd(source, body)
				row := source[body:next]
				if strings.TrimSpace(row) != "" && indentOf(row) <= margin {
					break
				}
				body = next
				lines++
			}
			if lines == 0 {
				return source, lifted{}
			}
			stub := strings.Repeat(" ", margin+1) + "-\n"
			return source[:end] + stub + source[body:], lifted{text: source[end:body], header: line, lines: lines}
		}
		offset = end
	}
	return source, lifted{}
}

// lineEnd is where the line that starts at offset ends, its line break included.
func lineEnd(source string, offset int) int {
	if i := strings.IndexByte(source[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(source)
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// line turns a line of the shortened source into one of the file.
func (l lifted) line(n int) int {
	if l.lines > 0 && n > l.header+1 {
		return n + l.lines - 1
	}
	return n
}
