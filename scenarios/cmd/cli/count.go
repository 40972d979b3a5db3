package cli

import "fmt"

// Counted is "1 exhibit", "2 exhibits".
func Counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
