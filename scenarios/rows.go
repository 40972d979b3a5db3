package scenarios

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseRows reads the compact rows of a workload, one pod per line:
//
//	name app create delete maxPerNode
//	openb-pod-0001 openb 427061 12902960 -
//
// Fields are separated by spaces; empty lines do not count. The error's Line and Column count within text. It is written
// by hand because a month of a real cluster is 24,000 rows.
func parseRows(text string) (Rows, *InputError) {
	rows := make(Rows, 0, strings.Count(text, "\n")+1)
	names := make(map[string]int, cap(rows))
	for line := 1; text != ""; line++ {
		row, rest, _ := strings.Cut(text, "\n")
		text = rest
		pod, column, message := parseRow(strings.TrimSuffix(row, "\r"))
		switch {
		case message != "":
			return nil, &InputError{Line: line, Column: column, Message: message}
		case column == 0:
			continue
		}
		if first, ok := names[pod.Name]; ok {
			return nil, &InputError{Line: line, Column: column,
				Message: "pod " + strconv.Quote(pod.Name) + " is in row " + strconv.Itoa(first) + " already"}
		}
		names[pod.Name] = line
		rows = append(rows, pod)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return rows, nil
}

// rowFields is how many fields a row has.
const rowFields = 5

// parseRow reads one row. Column is where the name stands or, with a message, the mistake; 0 for an empty row.
func parseRow(row string) (pod WorkloadPod, column int, message string) {
	var fields [rowFields]string
	var columns [rowFields]int
	n := 0
	for i := 0; i < len(row); {
		if row[i] == ' ' {
			i++
			continue
		}
		end := i
		for end < len(row) && row[end] != ' ' {
			end++
		}
		if n == rowFields {
			return pod, i + 1, strconv.Quote(row[i:end]) + " is a sixth field; a row is name app create delete maxPerNode"
		}
		fields[n], columns[n] = row[i:end], i+1
		n++
		i = end
	}
	if n == 0 {
		return pod, 0, ""
	}
	if n < rowFields {
		return pod, len(row) + 1, "row has " + strconv.Itoa(n) + " of 5 fields: name app create delete maxPerNode"
	}
	for i, name := range [...]string{"name", "app"} {
		if !isWord(fields[i]) {
			return pod, columns[i], name + " " + strconv.Quote(fields[i]) + " is not " + patterns["word"].want
		}
	}
	pod.Name, pod.App = fields[0], fields[1]
	var ok bool
	if pod.Create, ok = rowTime(fields[2], BeforeStart); !ok {
		return pod, columns[2], "create " + strconv.Quote(fields[2]) + " is neither seconds nor -"
	}
	if pod.Delete, ok = rowTime(fields[3], AfterEnd); !ok {
		return pod, columns[3], "delete " + strconv.Quote(fields[3]) + " is neither seconds nor -"
	}
	if pod.Delete < pod.Create {
		return pod, columns[3], "delete " + fields[3] + " comes before create " + fields[2]
	}
	if fields[4] != "-" {
		limit, err := strconv.ParseUint(fields[4], 10, 16)
		if err != nil || limit == 0 {
			return pod, columns[4], "maxPerNode " + strconv.Quote(fields[4]) + " is neither a number from 1 to 65535 nor -"
		}
		pod.MaxPerNode = int(limit)
	}
	return pod, columns[0], ""
}

// rowTime reads seconds with up to nine decimals, or - for absent.
func rowTime(text string, absent time.Duration) (time.Duration, bool) {
	if text == "-" {
		return absent, true
	}
	whole, fraction, dotted := strings.Cut(text, ".")
	seconds, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || seconds >= uint64(math.MaxInt64/time.Second) {
		return 0, false
	}
	d := time.Duration(seconds) * time.Second
	if !dotted {
		return d, true
	}
	if fraction == "" || len(fraction) > 9 {
		return 0, false
	}
	unit := time.Second
	for i := range len(fraction) {
		if fraction[i] < '0' || fraction[i] > '9' {
			return 0, false
		}
		unit /= 10
		d += time.Duration(fraction[i]-'0') * unit
	}
	return d, true
}

// AppendText appends the row that parseRow reads back, without a line break.
func (p WorkloadPod) AppendText(b []byte) []byte {
	b = append(append(b, p.Name...), ' ')
	b = append(append(b, p.App...), ' ')
	b = append(appendSeconds(b, p.Create, BeforeStart), ' ')
	b = append(appendSeconds(b, p.Delete, AfterEnd), ' ')
	if p.MaxPerNode == 0 {
		return append(b, '-')
	}
	return strconv.AppendInt(b, int64(p.MaxPerNode), 10)
}

func appendSeconds(b []byte, d, absent time.Duration) []byte {
	if d == absent {
		return append(b, '-')
	}
	b = strconv.AppendInt(b, int64(d/time.Second), 10)
	if rest := d % time.Second; rest > 0 {
		digits := strconv.Itoa(int(time.Second + rest)) // a leading 1 keeps the zeros
		b = append(append(b, '.'), strings.TrimRight(digits[1:], "0")...)
	}
	return b
}
