package fact

import (
	"cmp"
	"strconv"
)

// CompareNames is the natural order of nodes and pods: node-2 before node-10, and the cluster, which has no name,
// first.
func CompareNames(a, b string) int {
	headA, numberA := splitNumber(a)
	headB, numberB := splitNumber(b)
	return cmp.Or(cmp.Compare(headA, headB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

func splitNumber(name string) (head string, number int) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	number, err := strconv.Atoi(name[i:])
	if err != nil {
		return name, -1
	}
	return name[:i], number
}
