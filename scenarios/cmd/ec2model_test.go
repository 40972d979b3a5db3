package cmd

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

func lab(ctx context.Context, out, errOut io.Writer, args ...string) int {
	c := config(nil)
	c.Commands = append(c.Commands, &cobra.Command{Use: "lab"})
	c.Commands[0].AddCommand(ModelCommands()...)
	return Execute(ctx, c, append([]string{"lab"}, args...), out, errOut)
}

// Goal: the command prints the environment with which an AWS program finds both endpoints, and ends when it is interrupted. Method:
// the command, and a session of the metadata service that it prints; sim/ec2/endpoint has the SDK's tests.
func TestEC2Model(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out, say := io.Pipe()
	ended := make(chan int)
	var errOut bytes.Buffer
	go func() { ended <- lab(ctx, say, &errOut, "ec2", "--attach-delay", "1s") }()
	text := make([]byte, 1000)
	n, err := out.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	_, metadata, found := strings.Cut(strings.TrimSpace(string(text[:n])), "AWS_EC2_METADATA_SERVICE_ENDPOINT=")
	if !found || !strings.Contains(string(text[:n]), "AWS_ENDPOINT_URL_EC2=http://127.0.0.1:") {
		t.Fatalf("printed %q", text[:n])
	}
	ask, err := http.NewRequestWithContext(ctx, http.MethodPut, metadata+"/latest/api/token", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("X-aws-ec2-metadata-token-ttl-seconds", "60")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer, err)
	}
	_ = answer.Body.Close()
	interrupt()
	if code := <-ended; code != cli.ExitHeld || errOut.Len() > 0 {
		t.Errorf("code %d, %q", code, errOut.String())
	}
}

// Bad flags are refused in one line, with what is wanted.
func TestEC2ModelRefuses(t *testing.T) {
	for _, bad := range [][]string{{"--subnet", "10.0.0.1/20"}, {"--subnet", "10.0.0.0/8"}, {"--subnet", "x"}, {"--instance-type", "m5.huge"}, {"--requests", "-1"}, {"--api", "nowhere"}} {
		var out, errOut bytes.Buffer
		if code := lab(t.Context(), &out, &errOut, append([]string{"ec2"}, bad...)...); code != cli.ExitUsage || strings.Count(errOut.String(), "\n") != 1 || !strings.Contains(errOut.String(), bad[0][2:]) {
			t.Errorf("%v: code %d, %q", bad, code, errOut.String())
		}
	}
}
