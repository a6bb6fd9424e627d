// The errors of etcd 3.6, as its client receives them (api/v3rpc/rpctypes/error.go).
const refused = (message: string) => (): Error => new Error(`etcdserver: ${message}`);

/** What a member without a leader reports in its status. */
export const NO_LEADER = "etcdserver: no leader";
/** No member has the id. */
export const memberNotFound = refused("member not found");
/** A member has the peer address already. */
export const peerUrlExists = refused("Peer URLs already exists");
/** Too few members have ever started. */
export const notEnoughStarted = refused("re-configuration failed due to not enough started members");
/** Too few members are connected. */
export const unhealthy = refused("unhealthy cluster");
/** There is a learner already. */
export const tooManyLearners = refused("too many learner members in cluster");
/** The member has a vote already. */
export const notLearner = refused("can only promote a learner member");
/** The learner has not copied the data. */
export const learnerNotReady = refused("can only promote a learner member which is in sync with leader");
/** Only the leader hands over the leadership. */
export const notLeader = refused("not leader");
/** The member may not lead. */
export const badTransferee = refused("bad leader transferee");
/** The member did not take over the leadership. */
export const timedOutTransfer = refused("request timed out, leader transfer took too long");
/** There is no quorum. */
export const timedOut = refused("request timed out");
/** A learner answers status only. */
export const notForLearners = refused("rpc not supported for learner");
/** The alarm NOSPACE is raised. */
export const noSpace = refused("mvcc: database space exceeded");
/** A member that does not run. */
export const noConnection = (endpoint: string): Error => new Error(`connect ECONNREFUSED ${endpoint}`);
