package ec2_test

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"pgregory.net/rapid"
)

// Goal: the model gives no address twice, refuses with EC2's codes what EC2 refuses, all or nothing, and its metadata
// service tells the past. Method: tables, then rapid with the subnet's account as the law.

var epoch = time.Unix(1700000000, 0)

func instance(t *testing.T, instanceType, subnet string, change func(*ec2.Config)) *ec2.Instance {
	t.Helper()
	limits, ok := datastore.LimitsOf(instanceType)
	if !ok {
		t.Fatalf("no type %s", instanceType)
	}
	cfg := ec2.Config{Limits: ec2.Limits(limits), Subnet: ec2.NewSubnet(netip.MustParsePrefix(subnet))}
	if change != nil {
		change(&cfg)
	}
	i, err := ec2.New(epoch, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func code(err error) string {
	var e *ec2.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

func TestRefusals(t *testing.T) {
	i := instance(t, "t3.small", "10.0.0.0/28", nil) // 11 addresses for instances, one of them taken
	second, _, err := i.Create(epoch, 3, false)
	if err != nil || second.Device != 1 || len(second.Units) != 3 || second.Units[0].String() != "10.0.0.6/32" {
		t.Fatalf("%+v %v", second, err)
	}
	_, tooMany := i.Assign(epoch, second.ID, 1, false)
	_, unknown := i.Assign(epoch, "eni-9", 1, false)
	_, noBlock := i.Assign(epoch, "eni-0000", 1, true)
	_, negative := i.Assign(epoch, "eni-0000", -1, false)
	third, _, err := i.Create(epoch, 3, false)
	if err != nil {
		t.Fatal(err)
	}
	_, full := i.Assign(epoch, "eni-0000", 3, false)
	_, _, tooManyENIs := i.Create(epoch, 0, false)
	for want, err := range map[string]error{
		ec2.CodeTooManyIPs:      tooMany,
		ec2.CodeUnknownENI:      unknown,
		ec2.CodeNoBlock:         noBlock,
		ec2.CodeInvalidQuantity: negative,
		ec2.CodeSubnetFull:      full,
		ec2.CodeTooManyENIs:     tooManyENIs,
		ec2.CodeNotAssigned:     i.Unassign(epoch, third.ID, []netip.Prefix{netip.MustParsePrefix("10.0.0.4/32")}),
		ec2.CodeNotDetachable:   i.Delete(epoch, "eni-0000"),
	} {
		if code(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if code(i.Delete(epoch, "eni-9")) != ec2.CodeUnknownENI || code(i.Unassign(epoch, "eni-9", nil)) != ec2.CodeUnknownENI {
		t.Error("an unknown ENI is known")
	}
	if err := i.Delete(epoch, second.ID); err != nil {
		t.Fatal(err)
	}
	if e, _, err := i.Create(epoch, 0, false); err != nil || e.Device != 1 {
		t.Errorf("the device number is not used again: %+v %v", e, err)
	}
	if enis, _ := i.Describe(epoch); len(enis) != 3 || !enis[0].Primary {
		t.Errorf("%+v", enis)
	}
}

func TestMetadataTellsThePast(t *testing.T) {
	i := instance(t, "m5.large", "10.0.0.0/24", func(c *ec2.Config) { c.MetadataLag, c.AttachDelay = 10*time.Second, 3*time.Second })
	e, at, err := i.Create(epoch, 1, false)
	if err != nil || !at.Equal(epoch.Add(3*time.Second)) {
		t.Fatal(at, err)
	}
	if _, err := i.Assign(epoch.Add(5*time.Second), e.ID, 1, false); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration][2]int{0: {1, 0}, 12 * time.Second: {1, 0}, 13 * time.Second: {2, 1}, 15 * time.Second: {2, 2}} {
		enis := i.Metadata(epoch.Add(after))
		if len(enis) != want[0] || want[0] == 2 && len(enis[1].Units) != want[1] {
			t.Errorf("after %s: %+v", after, enis)
		}
	}
}

func TestThrottlingRefills(t *testing.T) {
	i := instance(t, "m5.large", "10.0.0.0/24", func(c *ec2.Config) { c.Account = ec2.NewAccount(epoch, 0.5, 2) })
	var codes []string
	for _, after := range [...]int{0, 0, 0, 1, 2, 60, 60, 60} {
		_, err := i.Describe(epoch.Add(time.Duration(after) * time.Second))
		codes = append(codes, code(err))
	}
	no := ec2.CodeThrottled
	if want := []string{"", "", no, no, "", "", "", no}; !slices.Equal(codes, want) || i.Requests("describe") != 5 {
		t.Errorf("%q, %d let through", codes, i.Requests("describe"))
	}
	i.Refuse("delete", epoch.Add(2*time.Hour))
	if err := i.Delete(epoch.Add(time.Hour), "eni-0"); code(err) != ec2.CodeInternal {
		t.Error(err)
	}
}

func TestNoAddressIsGivenTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		subnet := ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/26"))
		free := subnet.Free()
		i, err := ec2.New(epoch, ec2.Config{Limits: ec2.Limits{ENIs: 3, IPv4PerENI: 6}, Subnet: subnet})
		if err != nil {
			rt.Fatal(err)
		}
		pick := func(t *rapid.T) ec2.ENI {
			enis, _ := i.Describe(epoch)
			return rapid.SampledFrom(enis).Draw(t, "eni")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				_, _, _ = i.Create(epoch, rapid.IntRange(0, 6).Draw(t, "units"), rapid.Bool().Draw(t, "prefixes"))
			},
			"assign": func(t *rapid.T) {
				_, _ = i.Assign(epoch, pick(t).ID, rapid.IntRange(0, 5).Draw(t, "units"), rapid.Bool().Draw(t, "prefixes"))
			},
			"unassign": func(t *rapid.T) {
				if e := pick(t); len(e.Units) > 0 {
					if err := i.Unassign(epoch, e.ID, e.Units[:rapid.IntRange(1, len(e.Units)).Draw(t, "n")]); err != nil {
						t.Fatal(err)
					}
				}
			},
			"delete": func(t *rapid.T) { _ = i.Delete(epoch, pick(t).ID) },
			"": func(t *rapid.T) {
				enis, _ := i.Describe(epoch)
				seen, used := []netip.Prefix{}, 0
				for _, e := range enis {
					if 1+len(e.Units) > 6 || !slices.IsSortedFunc(e.Units, netip.Prefix.Compare) {
						t.Fatalf("%+v", e)
					}
					for _, p := range append(e.Units, netip.PrefixFrom(e.Address, 32)) {
						if slices.ContainsFunc(seen, p.Overlaps) || p != p.Masked() {
							t.Fatalf("%s is given twice", p)
						}
						seen = append(seen, p)
						used += 1 << (32 - p.Bits())
					}
				}
				if subnet.Free() != free-used {
					t.Fatalf("%d free, want %d", subnet.Free(), free-used)
				}
			},
		})
	})
}

// Goal: EC2 throttles an account, however many instances ask. Method: 60 instances that ask every second for 10 s.
func TestThrottlingIsTheAccounts(t *testing.T) {
	subnet, account, answered := ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/20")), ec2.NewAccount(epoch, 1, 2), 0
	var fleet []*ec2.Instance
	for range 60 {
		i, err := ec2.New(epoch, ec2.Config{Limits: ec2.Limits{ENIs: 3, IPv4PerENI: 10}, Subnet: subnet, Account: account})
		if err != nil {
			t.Fatal(err)
		}
		fleet = append(fleet, i)
	}
	for second := range 11 {
		for _, i := range fleet {
			if _, err := i.Describe(epoch.Add(time.Duration(second) * time.Second)); err == nil {
				answered++
			}
		}
	}
	if answered != 2+10 {
		t.Errorf("%d requests answered, want the burst of 2 and 1 in each of 10 s", answered)
	}
}

// Goal: with subnets of their own, pods' interfaces leave the instances' subnet alone, and all goes back to where it
// came from. Method: an instance fills a small subnet for pods, gives back, and ends.
func TestPodsHaveASubnetOfTheirOwn(t *testing.T) {
	pods := ec2.NewSubnet(netip.MustParsePrefix("10.9.0.0/28"))
	var nodes *ec2.Subnet
	i := instance(t, "m5.large", "10.0.0.0/24", func(c *ec2.Config) { c.Pods, nodes = pods, c.Subnet })
	if nodes.Free() != 256-5-1 || pods.Free() != 16-5 {
		t.Fatalf("%d and %d free", nodes.Free(), pods.Free())
	}
	e, _, err := i.Create(epoch, 9, false)
	if err != nil || nodes.Free() != 256-5-1 || pods.Free() != 16-5-10 {
		t.Fatalf("%v: %d and %d free", err, nodes.Free(), pods.Free())
	}
	for _, u := range e.Units {
		if !netip.MustParsePrefix("10.9.0.0/28").Contains(u.Addr()) {
			t.Errorf("%s is not for pods", u)
		}
	}
	if _, _, err := i.Create(epoch, 9, false); code(err) != ec2.CodeSubnetFull || pods.Free() != 1 {
		t.Errorf("%v: %d free", err, pods.Free())
	}
	if got, err := i.Assign(epoch, "eni-0000", 1, false); err != nil || !netip.MustParsePrefix("10.0.0.0/24").Contains(got[0].Addr()) {
		t.Errorf("the primary interface got %v: %v", got, err)
	}
	if err := i.Unassign(epoch, e.ID, e.Units[:4]); err != nil || pods.Free() != 5 {
		t.Errorf("%v: %d free", err, pods.Free())
	}
	if i.Terminate(epoch); nodes.Free() != 256-5 || pods.Free() != 16-5 {
		t.Errorf("%d and %d free at the end", nodes.Free(), pods.Free())
	}
}

// An interface that is being attached is in no answer of the metadata service, and hides nothing that was there before.
func TestMetadataShowsWhatIsAttached(t *testing.T) {
	now := time.Unix(1700000000, 0)
	i, err := ec2.New(now, ec2.Config{Limits: ec2.Limits{ENIs: 3, IPv4PerENI: 10}, Subnet: ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/24")), AttachDelay: 10 * time.Second, MetadataLag: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := i.Create(now, 1, false); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Assign(now.Add(5*time.Second), "eni-0000", 2, false); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration][2]int{0: {1, 0}, 5 * time.Second: {1, 0}, 6 * time.Second: {1, 2}, 10 * time.Second: {1, 2}, 11 * time.Second: {2, 2}} {
		if seen := i.Metadata(now.Add(after)); len(seen) != want[0] || len(seen[0].Units) != want[1] {
			t.Errorf("after %s: %d interfaces, the first with %d addresses, want %v", after, len(seen), len(seen[0].Units), want)
		}
	}
}
