package cmd

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/ec2/endpoint"
)

const accessKey, secretKey = "AKIATESTSOFCOMMAND", "secret-of-the-command"

// doubleOfEC2 is an instance of a double of EC2, which the environment names from now on; it wants two addresses warm.
func doubleOfEC2(t *testing.T) *ec2.Host {
	t.Helper()
	region := ec2.NewRegion(ec2.RegionConfig{})
	region.AddSubnet(ec2.Place{ID: "subnet-1", Zone: "eu-central-1a", Subnet: ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/24"))})
	host, err := region.Launch(time.Now(), "m5.large", "subnet-1", ec2.Limits{ENIs: 3, IPv4PerENI: 10})
	must(t, err)
	double := endpoint.New(endpoint.Config{Region: region, Name: "eu-central-1", AccessKey: accessKey, SecretKey: secretKey})
	api, metadata := httptest.NewServer(double.API()), httptest.NewServer(double.Metadata(host.ID))
	t.Cleanup(api.Close)
	t.Cleanup(metadata.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_EC2": api.URL, "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL, "AWS_REGION": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "WARM_IP_TARGET": "2", "MAX_ENI": "2",
	} {
		t.Setenv(name, value)
	}
	return host
}

// begun runs a command until it is interrupted, with what it writes.
func begun(t *testing.T, args ...string) (said *spoken, ended chan error, interrupt func()) {
	ctx, interrupt := context.WithCancel(t.Context())
	said, ended = &spoken{}, make(chan error, 1)
	go func() {
		root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(Commands(nil)...)
		root.SetArgs(args)
		root.SetOut(said)
		root.SetErr(said)
		ended <- root.ExecuteContext(ctx)
	}()
	return said, ended, interrupt
}

// Goal: an agent with --ipam datastore asks EC2 for its addresses, and shows them as ipamd does beside its own paths. Method: the command
// against a double of EC2, with an etcd of its own, while no VPP is there.
func TestAgentAsksEC2(t *testing.T) {
	doubleOfEC2(t)
	dir := t.TempDir()
	config, shown := filepath.Join(dir, "contiv.yaml"), filepath.Join(dir, "rest.sock")
	must(t, os.WriteFile(config, []byte("TCPstackDisabled: true\nIPAMConfig: {podSubnetCIDR: 10.0.0.0/24, podSubnetOneNodePrefixLen: 28}\n"), 0o644))
	said, ended, interrupt := begun(t, "agent", "--ipam", "datastore", "--config", config, "--node", "node-1", "--register", "--etcd", "embedded:"+filepath.Join(dir, "etcd"),
		"--vpp-patience", "0", "--vpp-socket", filepath.Join(dir, "none.sock"), "--journal", filepath.Join(dir, "journal"), "--cni-socket", filepath.Join(dir, "cni.sock"), "--rest", "unix:"+shown)
	patience := time.After(time.Minute)
	for _, one := range []struct{ path, want string }{
		{"/v1/enis", `"TotalIPs":2,"AssignedIPs":0`}, {"/v1/pods", `[]`}, {"/v1/ipamd-env-settings", `"WARM_IP_TARGET":2`},
		{"/metrics", "awscni_total_ip_addresses 2\n"}, {"/metrics", `awscni_ec2api_req_count{fn="AssignPrivateIpAddresses"} 1`}, {"/metrics", "vppdrill_agent_"},
		{"/state", `"10.0.0.5/32"`},
	} {
		for code, text := ask(t, shown, http.MethodGet, one.path, ""); code != http.StatusOK || !strings.Contains(text, one.want); code, text = ask(t, shown, http.MethodGet, one.path, "") {
			select {
			case err := <-ended:
				t.Fatalf("ended: %v\n%s", err, said)
			case <-patience:
				t.Fatalf("%s: %d %s, want %s\n%s", one.path, code, text, one.want, said)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	interrupt()
	must(t, <-ended)
	for _, secret := range []string{accessKey, secretKey, "session-"} {
		if strings.Contains(said.String(), secret) {
			t.Errorf("%s is told", secret)
		}
	}
}

// Goal: the command finds its instance, serves pods and introspection, keeps its checkpoint and its secrets, and ends in order. Method: the
// command against a double of EC2, whose metadata service hands out the credentials, with all that it writes.
func TestIPAMD(t *testing.T) {
	dir := t.TempDir()
	host := doubleOfEC2(t)
	program := filepath.Join(dir, "set-up")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\n[ -z \"$AWS_ENDPOINT_URL_EC2\" ] && echo $1 >>"+dir+"/set-up.txt\n"), 0o755))
	pods, shown, file := filepath.Join(dir, "pods.sock"), filepath.Join(dir, "shown.sock"), filepath.Join(dir, "ipam.json")
	args := []string{"ipamd", "--checkpoint", file, "--pods", "unix:" + pods, "--introspection", "unix:" + shown, "--set-up", program, "--log-level", "debug", "--format", "json"}
	said, ended, interrupt := begun(t, args...)
	for code, _ := ask(t, shown, http.MethodGet, "/readyz", ""); code != http.StatusOK; code, _ = ask(t, shown, http.MethodGet, "/readyz", "") {
		select {
		case err := <-ended:
			t.Fatalf("ended: %v\n%s", err, said)
		case <-time.After(10 * time.Millisecond):
		}
	}
	const pod = `{"networkName":"aws-cni","containerID":"0f3a","ifName":"eth0"}`
	code, answer := ask(t, pods, http.MethodPost, "/v1/add", pod)
	for code == http.StatusServiceUnavailable { // the first addresses are on their way
		time.Sleep(10 * time.Millisecond)
		code, answer = ask(t, pods, http.MethodPost, "/v1/add", pod)
	}
	if want := `{"address":"10.0.0.5","deviceNumber":0}`; code != http.StatusOK || strings.TrimSpace(answer) != want {
		t.Errorf("add: %d %s, want %s", code, answer, want)
	}
	for _, one := range []struct {
		method, socket, path, body, want string
		code                             int
	}{
		{http.MethodPost, pods, "/v1/check", pod, `"address":"10.0.0.5"`, 200},
		{http.MethodPost, pods, "/v1/check", strings.Replace(pod, "0f3a", "none", 1), "unknown pod", 404},
		{http.MethodPost, pods, "/v1/add", `{"networkName":"aws-cni"}`, "invalid IPAM key", 400},
		{http.MethodPost, pods, "/v1/add", `{"colour":"red"}`, "unknown field", 400},
		{http.MethodGet, shown, "/v1/enis", "", `"IPAMKey":{"networkName":"aws-cni","containerID":"0f3a","ifName":"eth0"},"Address":"10.0.0.5"`, 200},
		{http.MethodGet, shown, "/v1/pods", "", `"IP":"10.0.0.5","DeviceNumber":0`, 200},
		{http.MethodGet, shown, "/v1/ipamd-env-settings", "", `"WARM_IP_TARGET":2`, 200},
		{http.MethodGet, shown, "/v1/networkutils-env-settings", "", `{}`, 200},
		{http.MethodGet, shown, "/metrics", "", "awscni_assigned_ip_addresses 1\n", 200},
		{http.MethodGet, shown, "/metrics", "", "awscni_eni_max 2\n", 200},
		{http.MethodPost, pods, "/v1/del", pod, `"10.0.0.5"`, 200},
		{http.MethodPost, pods, "/v1/del", pod, ``, 200},
		{http.MethodPost, pods, "/v1/add", strings.Replace(pod, "0f3a", "other", 1), `"10.0.0.6"`, 200},
		{http.MethodPost, pods, "/v1/gc", "[]", `"released":1`, 200},
	} {
		if code, answer := ask(t, one.socket, one.method, one.path, one.body); code != one.code || !strings.Contains(answer, one.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", one.path, one.body, code, answer, one.code, one.want)
		}
	}
	if out, err := command(t, "ipamd", "--checkpoint", file, "--pods", "unix:"+dir+"/other.sock"); cannotRunCode(err) == false || !strings.Contains(err.Error(), "another ipamd keeps it") {
		t.Errorf("a second daemon: %v %s", err, out)
	}
	interrupt()
	must(t, <-ended)
	if text, err := os.ReadFile(filepath.Join(dir, "set-up.txt")); err != nil || !strings.HasPrefix(string(text), host.Attached()[0].ID+"\n") {
		t.Errorf("set up %q, %v", text, err)
	}
	text, err := os.ReadFile(file)
	must(t, err)
	for _, secret := range []string{accessKey, secretKey, "session-"} {
		if strings.Contains(said.String()+string(text), secret) {
			t.Errorf("%s is told", secret)
		}
	}
	if _, err := os.Lstat(pods); err == nil {
		t.Error("the socket stays")
	}
}

func cannotRunCode(err error) bool { code, _ := cli.Code(err); return code == cli.ExitCannotRun }

// spoken is what a program writes, from any goroutine.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// ask is one request on a unix socket; 0 while nobody listens.
func ask(t *testing.T, socket, method, path, body string) (int, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://ipamd"+path, strings.NewReader(body))
	must(t, err)
	answer, err := client.Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(text)
}

// What cannot be run, and what nobody can mean, is refused in one line.
func TestIPAMDRefuses(t *testing.T) {
	hangs := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(hangs.Close)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", hangs.URL)
	dir := t.TempDir()
	for env, want := range map[string]string{
		"WARM_IP_TARGET=many": `WARM_IP_TARGET="many"`, "WARM_ENI_TARGET=-1": "from 0", "MAX_ENI=0": "from 1", "ENABLE_PREFIX_DELEGATION=perhaps": "true or false",
		"ENABLE_POD_ENI=true": "branch interfaces", "ENABLE_IPv6=true": "IPv6 is not built", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true": "custom networking",
		"IP_COOLDOWN_PERIOD=x": "IP_COOLDOWN_PERIOD", "WARM_IP_TARGET=1": "metadata service does not answer",
	} {
		name, value, _ := strings.Cut(env, "=")
		t.Setenv(name, value)
		_, err := command(t, "ipamd", "--checkpoint", dir+"/ipam.json", "--pods", "unix:"+dir+"/pods.sock")
		code, line := cli.Code(err)
		if wanted := map[bool]int{true: cli.ExitCannotRun, false: cli.ExitUsage}[env == "WARM_IP_TARGET=1"]; code != wanted || !strings.Contains(line, want) || strings.Contains(line, "\n") {
			t.Errorf("%s: %d %s", env, code, line)
		}
		os.Unsetenv(name)
	}
}
