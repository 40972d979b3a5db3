package plan

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/vppdrill/vppdrill/ipam/noun"
)

// Counts are uint64 and saturate: the highest one stands for itself and everything above.
const countMax = math.MaxUint64

func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high != 0 {
		return countMax
	}
	return low
}

// over is a/b; what a count of "this and more" is enough for is as open.
func over(a, b uint64) uint64 {
	if a == countMax {
		return countMax
	}
	return a / b
}

func plus(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return countMax
	}
	return sum
}

// less is a-b, 0 when b is greater. What is saturated stays so: how much is missing below 2^64 of more is not worth
// telling.
func less(a, b uint64) uint64 {
	if a == countMax {
		return a
	}
	return a - min(a, b)
}

// countText is a count for people.
func countText(n uint64) string {
	if n == countMax {
		return "2^64 or more"
	}
	return strconv.FormatUint(n, 10)
}

// plural is "1 node", "2 nodes".
func plural(n uint64, what string) string { return countText(n) + " " + noun.Of(n, what) }

// fit is " fits" of one, " fit" of more.
func fit(n uint64) string {
	if n == 1 {
		return " fits"
	}
	return " fit"
}

// percent is part of whole in whole percents. What is neither nothing nor all is never told as such.
func percent(part, whole uint64) string {
	if whole == 0 {
		return "0%"
	}
	switch n := math.Round(float64(part) / float64(whole) * 100); {
	case n == 0 && part > 0:
		return "less than 1%"
	case n >= 100 && part < whole:
		return "more than 99%"
	default:
		return fmt.Sprintf("%g%%", n)
	}
}
