package mutation

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// verdicts are the runs that a program does, each with its verdict and digest, as text to be compared.
func verdicts(ctx context.Context, program string, args []string) (string, error) {
	out, err := exec.CommandContext(ctx, program, append(args, "--jobs", "1", "--format", "json")...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s does not pass without a fault: %w", program, strings.Join(args, " "), err)
	}
	var report struct {
		Scenarios []struct {
			Scenario, Verdict, Digest string
			Seed                      uint64
		}
		Explored any
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return "", fmt.Errorf("read what %s printed: %w", program, err)
	}
	return fmt.Sprint(report), nil
}
