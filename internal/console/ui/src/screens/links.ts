// Generated from the table of screens (internal/console/screens.go):
// go test ./internal/console -run TestUINavigation -update
export const links = [
  { to: '/', title: 'Overview', role: 'viewer', writes: false },
  { to: '/fleet', title: 'Fleet', role: 'viewer', writes: false },
  { to: '/map', title: 'Map', role: 'viewer', writes: false },
  { to: '/live', title: 'Live', role: 'viewer', writes: false },
  { to: '/streams', title: 'Streams', role: 'viewer', writes: false },
  { to: '/audit', title: 'Audit', role: 'viewer', writes: false },
  { to: '/policy', title: 'Policy', role: 'viewer', writes: false },
  { to: '/guards', title: 'Guards', role: 'viewer', writes: false },
  { to: '/extensions', title: 'Extensions', role: 'viewer', writes: false },
  { to: '/try', title: 'Try it', role: 'operator', writes: true },
  { to: '/approvals', title: 'Approvals', role: 'viewer', writes: false },
  { to: '/push', title: 'Push', role: 'viewer', writes: false },
  { to: '/content', title: 'Captured content', role: 'operator', writes: false },
  { to: '/identities', title: 'Identities', role: 'viewer', writes: false },
  { to: '/gateway', title: 'Config and health', role: 'viewer', writes: false },
  { to: '/account', title: 'Account', role: 'viewer', writes: false },
] as const;
