package host

import (
	"fmt"
	"os"
	"strings"
)

// bootFile is where Linux tells the ID that it drew at its boot.
const bootFile = "/proc/sys/kernel/random/boot_id"

// BootID identifies this machine's boot.
func BootID() (string, error) {
	text, err := os.ReadFile(bootFile)
	if err != nil {
		return "", fmt.Errorf("boot ID: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
