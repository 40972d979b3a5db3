package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// LabelProgram names, on an image that this machine packed, the SHA-256 of the vppdrill in it: agents of a cluster are
// to be the build that judges them.
const LabelProgram = "vppdrill.program"

// Digest is the SHA-256 of a program's file, in hexadecimal digits.
func Digest(program string) (string, error) {
	f, err := os.Open(program)
	if err != nil {
		return "", fmt.Errorf("read program: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read program: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
