import Market
package import NIOCore
import Wire

/// A program's part in a lease that at most one program holds: a candidate, or the holder.
///
/// The key has no time to live in the store, whose clock may jump. These rules keep two programs from running at once:
///
/// - A candidate writes only with the expectation of a revision that is a clean release, or that it has seen for the
///   whole ``LeaseSettings/timeToLive``: from the arrival of the answer that first showed it to the sending of a read
///   that still shows it. The store's own comparison then says that it has not changed since.
/// - The holder runs for ``LeaseSettings/fence`` from before the sending of the last write that was acknowledged. That
///   write took effect later than it was sent, and a candidate saw it later still, so the holder is fenced first.
/// - Only an acknowledged write proves or extends. A read never does: where the answer to a write is missing and a read
///   shows the write's own token, its revision becomes the expectation of the next write, and that write proves. To
///   count from the sending of the first one would be true, too, but saves one answer's time only, and would make a
///   second rule of which a read is a part.
/// - A deletion is not a release: a person or another program can delete the key while its holder runs. A release is a
///   value, which keeps the epoch.
/// - An absence and a deletion have no token, and so prove nothing: where the store has lost its data, a value can have
///   come and gone. A candidate that finds one of them writes a value that says so, and that value is what all watch.
///
/// Time and chance are arguments. Every event first fences a holder whose time is over, so whatever a program that was
/// stopped does first on waking, the fence is the first action. One request is outstanding at a time; the answer of an
/// earlier one is ignored.
package struct LeaseMachine: Sendable {
    /// The work of one event; a method returns it in order.
    package enum Action: Sendable, Equatable {
        /// Read the key; ``answered(_:_:at:)`` may follow with this number.
        case read(UInt64)
        /// Write the key if it has this revision, 0 for no value; ``answered(_:_:at:)`` may follow with this number.
        case write(UInt64, ByteBuffer, expecting: UInt64)
        /// Open the upstream and publish, if the guard still allows it.
        case run(LeaseGrant)
        /// Go on; the guard to ask from now on.
        case extend(LeaseGuard)
        /// Close the upstream and publish nothing.
        case fence(LeaseFence)
        case report(LeaseReport)
        /// No event has an effect any more.
        case end
    }

    private enum Purpose {
        case read
        case write(LeaseClaim, ByteBuffer)
    }

    /// The outstanding request.
    private struct Request {
        var number: UInt64
        /// The time before it was sent.
        var sent: Int64
        var purpose: Purpose
    }

    /// What this program has seen of the key.
    private struct Observation {
        var state: LeaseKeyState
        var claim: LeaseClaim?
        /// When the first answer with it came.
        var since: Int64
    }

    /// This program's try to take the lease, and then its time as the holder.
    private struct Tenure {
        var epoch: UInt64
        var since: String
        /// What the next write expects.
        var base: LeaseKeyState
        /// Whether this is a value of this tenure.
        var isOurs = false
        /// The tokens of writes that may have taken effect, or may still do so.
        var unknown: [String] = []
        /// Whether the key must be read before the next write.
        var needsRead = false
        /// When the next request is due.
        var next: Int64
        var lastWrite: Int64 = .min
        /// `nil` before the first proof, and after the fence.
        var guarding: LeaseGuard?
        /// When a stop ends, even without a release.
        var stopsAt: Int64?
        /// Whether the upstream is closed, so that the lease can be given back.
        var isClosed = false
        /// Whether a release was sent. Its outcome may be unknown, as that of a renewal.
        var isReleasing = false
    }

    private enum Phase {
        /// Waits for ``started(at:)``.
        case idle
        /// Reads, and waits until the lease is free.
        case following(next: Int64)
        case tenure(Tenure)
        case ended
    }

    /// The epochs of one tenure: the lease's, and those that the holder's tape begins itself, each one higher.
    package static let epochsOfTenure: UInt64 = 1_024
    /// The most writes of unknown outcome that are remembered; that of a forgotten one counts as another program's.
    private static let maximumUnknown = 16

    private let settings: LeaseSettings
    private let name: String
    private let host: String
    private let instance: String
    private var phase = Phase.idle
    private var request: Request?
    private var requests: UInt64 = 0
    private var observation: Observation?
    /// The highest epoch that this program has seen or chosen.
    package private(set) var highestEpoch: UInt64
    /// Whether it may take a free lease.
    private var mayTake: Bool
    private var reported: LeaseReport?
    /// Whether a candidate's last request had no answer.
    private var isSilent = false
    private var actions: [Action] = []

    /// - Parameters:
    ///   - name: the program's name among those that share the lease.
    ///   - host: the machine's name, for people.
    ///   - instance: a random token of this start of the program.
    ///   - highestEpoch: the highest epoch that the program has seen.
    ///   - mayTake: whether it may take the lease at once, or only after ``permitted(at:)``.
    package init(
        _ settings: LeaseSettings,
        name: String,
        host: String,
        instance: String,
        highestEpoch: UInt64 = 0,
        mayTake: Bool = true
    ) {
        self.settings = settings
        self.name = name
        self.host = host
        self.instance = instance
        self.highestEpoch = highestEpoch
        self.mayTake = mayTake
    }

    // MARK: State

    /// The guard of this moment; after each event the newest one is the one to ask.
    package var guarding: LeaseGuard {
        if case .tenure(let tenure) = self.phase { tenure.guarding ?? .closed } else { .closed }
    }

    /// The epoch of the holder; `nil` for a candidate, and after the fence.
    package var epoch: UInt64? {
        if case .tenure(let tenure) = self.phase, tenure.guarding != nil { tenure.epoch } else { nil }
    }

    package var isEnded: Bool { if case .ended = self.phase { true } else { false } }

    /// The boottime at which ``deadlineReached(at:)`` must be called; `nil` for never.
    package var deadline: Int64? {
        var deadline: Int64?
        func add(_ time: Int64) { deadline = min(deadline ?? .max, time) }
        if let request { add(request.sent + self.settings.request) }
        switch self.phase {
        case .idle, .ended: break
        case .following(let next): if self.request == nil { add(next) }
        case .tenure(let tenure):
            // Before the release a stop waits for the end of the upstream only.
            if self.request == nil, tenure.stopsAt == nil || tenure.needsRead || tenure.isReleasing { add(tenure.next) }
            if let guarding = tenure.guarding { add(guarding.until) }
            if let stopsAt = tenure.stopsAt, self.request == nil || !tenure.isReleasing { add(stopsAt) }
        }
        return deadline
    }

    // MARK: Events

    /// Begins as a candidate; without effect on a machine that has begun.
    package mutating func started(at moment: LeaseMoment) -> [Action] {
        if case .idle = self.phase { self.phase = .following(next: moment.boottime) }
        return self.finish(moment)
    }

    /// Takes the outcome of a request.
    package mutating func answered(_ number: UInt64, _ answer: LeaseAnswer, at moment: LeaseMoment) -> [Action] {
        self.wake(moment)
        if let request, request.number == number {
            self.request = nil
            self.take(answer, of: request, moment)
        }
        return self.finish(moment)
    }

    /// Does what is due. Must also be called when the guard has forbidden something.
    package mutating func deadlineReached(at moment: LeaseMoment) -> [Action] {
        self.wake(moment)
        return self.finish(moment)
    }

    /// Allows it to take the lease.
    package mutating func permitted(at moment: LeaseMoment) -> [Action] {
        self.wake(moment)
        if !self.mayTake, case .following = self.phase { self.phase = .following(next: moment.boottime) }
        self.mayTake = true
        return self.finish(moment)
    }

    /// Fences and, after ``closed(at:)``, gives the lease back and ends. ``Action/end`` comes within
    /// ``LeaseSettings/release`` and one request.
    package mutating func stopRequested(at moment: LeaseMoment) -> [Action] {
        self.wake(moment)
        switch self.phase {
        case .idle, .following: self.end(isReleased: nil)
        case .tenure(var tenure):
            guard tenure.stopsAt == nil else { break }
            if tenure.guarding != nil {
                self.actions.append(.fence(.stopping))
            } else {
                // It has not run.
                tenure.isClosed = true
            }
            tenure.guarding = nil
            tenure.stopsAt = moment.boottime + self.settings.release
            self.phase = .tenure(tenure)
        case .ended: break
        }
        return self.finish(moment)
    }

    /// Notes after a stop that the upstream is closed. The successor opens its own as soon as it sees the release.
    package mutating func closed(at moment: LeaseMoment) -> [Action] {
        self.wake(moment)
        if case .tenure(var tenure) = self.phase, tenure.stopsAt != nil {
            tenure.isClosed = true
            self.phase = .tenure(tenure)
        }
        return self.finish(moment)
    }

    // MARK: Transitions

    /// Ends what time has ended, before anything else happens.
    private mutating func wake(_ moment: LeaseMoment) {
        let now = moment.boottime
        if case .tenure(let tenure) = self.phase, let guarding = tenure.guarding, !guarding.allows(at: now) {
            self.actions.append(.fence(.expired))
            // The outcome of what was sent can prove nothing any more.
            self.request = nil
            self.phase = .following(next: now)
        }
        if let request, now - request.sent >= self.settings.request {
            self.request = nil
            self.take(.unknown, of: request, moment)
        }
        // Only the outcome of a release is worth waiting for after the end of a stop's time.
        if case .tenure(let tenure) = self.phase, let stopsAt = tenure.stopsAt, now >= stopsAt, !tenure.isReleasing {
            self.request = nil
        }
    }

    private mutating func take(_ answer: LeaseAnswer, of request: Request, _ moment: LeaseMoment) {
        switch self.phase {
        case .idle, .ended: break
        case .following: self.follow(answer, request, moment)
        case .tenure(let tenure):
            switch request.purpose {
            case .read: self.readBack(answer, request, tenure, moment)
            case .write(let claim, let value): self.wrote(answer, claim, value, request, tenure, moment)
            }
        }
    }

    private mutating func follow(_ answer: LeaseAnswer, _ request: Request, _ moment: LeaseMoment) {
        let now = moment.boottime
        let next = max(now, request.sent + self.settings.poll)
        self.phase = .following(next: next)
        defer { if answer != .unknown, answer != .unsent { self.isSilent = false } }
        let observation: Observation
        switch (answer, request.purpose) {
        case (.unknown, _), (.unsent, _):
            // One lost message is not worth a line.
            if self.isSilent { self.report(.silent) }
            return self.isSilent = true
        case (.written(let revision), .write(let claim, let value)):
            return self.observe(.value(value, revision: revision), claim, now)
        case (.written, .read), (.refused, _): return
        case (.state(let state), _): observation = self.observe(state, now)
        }
        let holder = LeaseReport.Holder(observation.state, observation.claim)
        switch observation.state {
        case .absent, .deleted:
            self.report(.waiting(holder))
            return self.write(.vacant, epoch: self.highestEpoch, since: "", expecting: observation.state, moment)
        case .value: break
        }
        let free = observation.since + self.settings.timeToLive
        // A read that was sent before this time may be older than a sleep of this program.
        let isFree = observation.claim?.state == .released || request.sent >= free
        let isLast = self.highestEpoch > ClusterPosition.maximumEpoch - Self.epochsOfTenure
        if isFree, isLast || !self.mayTake {
            self.report(.waiting(isLast ? .lastEpoch(self.highestEpoch) : holder))
        } else if isFree {
            self.report(.taking(holder))
            let wall = UInt64(max(moment.wall, 0)) / 1_000_000
            let epoch = max(self.highestEpoch + Self.epochsOfTenure, min(wall, ClusterPosition.maximumEpoch))
            self.highestEpoch = epoch
            let since = UTCText.secondStamp(moment.wall)
            self.phase = .tenure(Tenure(epoch: epoch, since: since, base: observation.state, next: now))
        } else {
            self.report(.waiting(holder))
            self.phase = .following(next: max(now, min(next, free)))
        }
    }

    /// The outcome of a claim.
    private mutating func wrote(
        _ answer: LeaseAnswer,
        _ claim: LeaseClaim,
        _ value: ByteBuffer,
        _ request: Request,
        _ tenure: Tenure,
        _ moment: LeaseMoment
    ) {
        let now = moment.boottime
        var tenure = tenure
        switch answer {
        case .written where claim.state == .released: return self.end(isReleased: true)
        case .written(let revision):
            tenure.base = .value(value, revision: revision)
            tenure.isOurs = true
            tenure.unknown = []
            tenure.next = max(now, request.sent + self.settings.renewal)
            self.observe(tenure.base, claim, now)
            if tenure.stopsAt == nil {
                let guarding = LeaseGuard(until: request.sent + self.settings.fence)
                if tenure.guarding == nil {
                    self.actions.append(.run(LeaseGrant(epoch: tenure.epoch, guarding: guarding)))
                    self.report(.holding(epoch: tenure.epoch))
                } else {
                    self.actions.append(.extend(guarding))
                }
                tenure.guarding = guarding
            }
        case .refused:
            // Without a write of unknown outcome it is another program's revision.
            guard !tenure.unknown.isEmpty else { return self.lose(tenure, to: .another, next: now) }
            tenure.needsRead = true
            tenure.next = now
        case .unknown, .state:
            if tenure.unknown.count == Self.maximumUnknown { tenure.unknown.removeFirst() }
            tenure.unknown.append(claim.token)
            tenure.needsRead = true
            tenure.next = max(now, request.sent + self.settings.poll)
        case .unsent:
            tenure.next = max(now, request.sent + self.settings.poll)
        }
        self.phase = .tenure(tenure)
    }

    /// The outcome of the read that follows a write of unknown outcome.
    private mutating func readBack(
        _ answer: LeaseAnswer,
        _ request: Request,
        _ tenure: Tenure,
        _ moment: LeaseMoment
    ) {
        let now = moment.boottime
        var tenure = tenure
        guard case .state(let state) = answer else {
            tenure.next = max(now, request.sent + self.settings.poll)
            self.phase = .tenure(tenure)
            return
        }
        let observation = self.observe(state, now)
        if state != tenure.base {
            guard let claim = observation.claim, tenure.unknown.contains(claim.token) else {
                let next = max(now, request.sent + self.settings.poll)
                return self.lose(tenure, to: LeaseReport.Holder(state, observation.claim), next: next)
            }
            if claim.state == .released { return self.end(isReleased: true) }
            // The other writes of unknown outcome expected what this one has replaced.
            tenure.unknown = []
            tenure.base = state
            tenure.isOurs = true
        }
        tenure.needsRead = false
        tenure.next = max(now, tenure.lastWrite + self.settings.poll)
        self.phase = .tenure(tenure)
    }

    private mutating func lose(_ tenure: Tenure, to holder: LeaseReport.Holder, next: Int64) {
        if tenure.guarding != nil { self.actions.append(.fence(.lost(holder))) }
        guard tenure.stopsAt == nil else {
            // It was given back, unless the last proof was near the end of its time when the stop began.
            if tenure.isReleasing, case .program = holder { return self.end(isReleased: true) }
            return self.end(isReleased: false)
        }
        self.report(.waiting(holder))
        self.phase = .following(next: next)
    }

    /// - Parameter isReleased: whether the release is known to have taken effect; `nil` for a program that held nothing.
    private mutating func end(isReleased: Bool?) {
        self.phase = .ended
        self.request = nil
        if let isReleased { self.report(.ended(isReleased: isReleased)) }
        self.actions.append(.end)
    }

    // MARK: Requests

    /// Sends what is due, and returns the actions of the event.
    private mutating func finish(_ moment: LeaseMoment) -> [Action] {
        if self.request == nil { self.proceed(moment) }
        defer { self.actions = [] }
        return self.actions
    }

    private mutating func proceed(_ moment: LeaseMoment) {
        let now = moment.boottime
        switch self.phase {
        case .idle, .ended: break
        case .following(let next): if now >= next { self.read(moment) }
        case .tenure(var tenure):
            if let stopsAt = tenure.stopsAt {
                guard now < stopsAt else { return self.end(isReleased: false) }
                // What has taken effect must be known before it can be given back.
                guard !tenure.needsRead else {
                    if now >= tenure.next { self.read(moment) }
                    return
                }
                guard tenure.isOurs else { return self.end(isReleased: false) }
                guard tenure.isClosed, !tenure.isReleasing || now >= tenure.next else { return }
                tenure.isReleasing = true
                tenure.lastWrite = now
                self.phase = .tenure(tenure)
                self.write(.released, epoch: tenure.epoch, since: tenure.since, expecting: tenure.base, moment)
            } else if now >= tenure.next {
                if tenure.needsRead { return self.read(moment) }
                tenure.lastWrite = now
                self.phase = .tenure(tenure)
                self.write(.held, epoch: tenure.epoch, since: tenure.since, expecting: tenure.base, moment)
            }
        }
    }

    private mutating func read(_ moment: LeaseMoment) {
        self.requests += 1
        self.request = Request(number: self.requests, sent: moment.boottime, purpose: .read)
        self.actions.append(.read(self.requests))
    }

    private mutating func write(
        _ state: LeaseClaim.State,
        epoch: UInt64,
        since: String,
        expecting base: LeaseKeyState,
        _ moment: LeaseMoment
    ) {
        self.requests += 1
        let claim = LeaseClaim(
            state,
            holder: self.name,
            host: self.host,
            token: "\(self.instance)-\(self.requests)-\(String(moment.chance, radix: 16))",
            epoch: epoch,
            since: since
        )
        let value = claim.json
        self.request = Request(number: self.requests, sent: moment.boottime, purpose: .write(claim, value))
        self.actions.append(.write(self.requests, value, expecting: base.revision))
    }

    // MARK: Observation

    /// Notes an answer of a read.
    private mutating func observe(_ state: LeaseKeyState, _ now: Int64) -> Observation {
        if let known = self.observation, known.state == state { return known }
        var claim: LeaseClaim?
        if case .value(let bytes, _) = state { claim = LeaseClaim(bytes) }
        self.observe(state, claim, now)
        return Observation(state: state, claim: claim, since: now)
    }

    private mutating func observe(_ state: LeaseKeyState, _ claim: LeaseClaim?, _ now: Int64) {
        if let claim { self.highestEpoch = max(self.highestEpoch, claim.epoch) }
        self.observation = Observation(state: state, claim: claim, since: now)
    }

    private mutating func report(_ report: LeaseReport) {
        guard report != self.reported else { return }
        self.reported = report
        self.actions.append(.report(report))
    }
}
