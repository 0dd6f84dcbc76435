import Market
package import NIOCore
import TLS

/// A client of NATS as a state machine: time and chance are arguments, and it opens no socket.
///
/// It holds one connection at a time, restores the subscriptions on each, and tries the servers in turn when there is
/// none. What is published without a connection is refused, not kept: a caller knows best what is still true later.
/// Messages are delivered as they are read, so the machine holds no queue of them.
package struct NATSMachine: Sendable {
    /// The present connection or attempt.
    private struct Link: Sendable {
        var member: ServerPool.Member
        /// Until it is sent.
        var identity: NATSIdentity?
        var info: ServerInformation?
        var isEncrypted = false
        var connectedAt: NIODeadline?
    }

    private enum Phase: Sendable {
        /// Waits for ``start(now:chance:)``.
        case idle
        /// Waits for the time of the next attempt.
        case resting(until: NIODeadline)
        /// Waits for TCP.
        case connecting(Link, until: NIODeadline)
        /// Waits for INFO.
        case greeting(Link, until: NIODeadline)
        /// Waits for the end of the TLS handshake.
        case securing(Link, until: NIODeadline)
        /// CONNECT and PING are sent; waits for PONG, which comes only after the server has accepted both.
        case proving(Link, until: NIODeadline)
        case connected(Link)
        /// The subscriptions are ended; waits for the PONG behind them, for the answers of the requests, and for a PONG
        /// behind what was published meanwhile.
        case draining(Link, Draining)
        case stopped
    }

    private struct Draining: Sendable {
        enum Purpose: Sendable {
            case stop
            /// The server is about to stop, and the client moves to another one.
            case move
        }

        var purpose: Purpose
        var until: NIODeadline
        /// Whether the server has processed all that was sent up to the last PING.
        var isConfirmed = false
        /// Whether something was published behind the last PING.
        var hasPublished = false
    }

    private enum Ping: Equatable {
        case keepalive
        case drain
        case flush(UInt64)
    }

    /// The memory for PONGs above the limit of all other operations, in bytes.
    private static let controlBytes = 64 << 10
    /// The memory that a write takes beside its bytes: the buffer's head, the promise, the place in the channel's list.
    static let writeBytes = 256
    /// The most servers that are remembered as reported (``Report/exposed(_:)``).
    private static let maximumExposed = 64

    package let settings: NATSSettings
    private let inbox: String
    private var phase = Phase.idle
    private var pool: ServerPool
    private var subscriptions: [UInt64: NATSPattern] = [:]
    private var lastNumber: UInt64 = 0
    /// The subscription of all answers; `nil` before the first request.
    private var inboxNumber: UInt64?
    private var requests = RequestTable()
    private var pings: [Ping] = []
    private var nextPing: NIODeadline?
    /// The server's PINGs of this read, answered together at its end.
    private var pongsDue = 0
    /// When the client moves away from a server in lame duck mode.
    private var leavesAt: NIODeadline?
    private var hasReportedLeaving = false
    /// The memory of what was sent and has not left.
    private var waitingBytes = 0
    /// Why the server does not take the subscription of the answers.
    private var inboxRefusal: ServerRefusal?
    private var exposed: [ServerAddress] = []
    private var drops = LogAllowance()
    private var changes = LogAllowance()
    private var hasUnreportedServers = false

    /// - Parameters:
    ///   - inboxToken: a random token of this client; answers come to subjects with it.
    ///   - chance: uniformly distributed from 0 to 1.
    package init(_ settings: NATSSettings, inboxToken: String, chance: Double) {
        self.settings = settings
        self.inbox = "\(settings.inboxPrefix).\(inboxToken)"
        self.pool = ServerPool(settings.servers, chance: chance)
    }

    // MARK: State

    /// The server and what it has said, while there is a connection.
    package var connection: (server: ServerAddress, info: ServerInformation)? {
        if case .connected(let link) = self.phase, let info = link.info { (link.member.address, info) } else { nil }
    }

    /// The servers that are known, those of the cluster included.
    package var servers: [ServerAddress] { self.pool.members.map(\.address) }

    package var isStopped: Bool { if case .stopped = self.phase { true } else { false } }

    /// The time at which ``timeReached(now:chance:)`` must be called; `nil` for never.
    package var deadline: NIODeadline? {
        let own: NIODeadline? =
            switch self.phase {
            case .idle, .stopped: nil
            case .resting(let until), .connecting(_, let until), .greeting(_, let until), .securing(_, let until),
                .proving(_, let until):
                until
            case .draining(_, let draining): draining.until
            case .connected: self.nextPing
            }
        let report =
            self.hasUnreportedServers ? NIODeadline.uptimeNanoseconds(UInt64(max(self.changes.reopens, 0))) : nil
        return [own, self.leavesAt, self.requests.deadline, report].compactMap(\.self).min()
    }

    // MARK: Start and stop

    /// Begins with the first attempt; without effect on a client that is running.
    package mutating func start(now: NIODeadline) -> [Action] {
        switch self.phase {
        case .idle, .stopped: return self.attempt(now: now)
        case .resting, .connecting, .greeting, .securing, .proving, .connected, .draining: return []
        }
    }

    /// Ends at once. It has no subscriptions afterwards.
    package mutating func stop() -> [Action] {
        if case .draining(_, let draining) = self.phase, draining.purpose == .stop { return self.finish(.undrained) }
        return self.finish(.stopped)
    }

    /// Ends after what was sent has been processed: no new messages, then the answers of the requests, then the end.
    /// Meanwhile messages can be published, so that a reader can answer the last ones.
    package mutating func drain(now: NIODeadline) -> [Action] {
        switch self.phase {
        case .connected(let link): return self.drain(link, .stop, now: now)
        case .draining(let link, var draining):
            draining.purpose = .stop
            self.phase = .draining(link, draining)
            return []
        case .idle, .resting, .connecting, .greeting, .securing, .proving, .stopped: return self.finish(.stopped)
        }
    }

    private mutating func drain(_ link: Link, _ purpose: Draining.Purpose, now: NIODeadline) -> [Action] {
        self.phase = .draining(link, Draining(purpose: purpose, until: now + self.settings.drainTimeout))
        self.leavesAt = nil
        self.nextPing = nil
        let numbers = self.subscriptions.keys.sorted().filter { $0 != self.inboxNumber }
        self.pings.append(.drain)
        return [self.send(numbers.map { .unsubscribe(number: $0) } + [.ping])]
    }

    /// Goes on with draining, if there is nothing to wait for.
    private mutating func drained(now: NIODeadline, chance: Double) -> [Action] {
        guard case .draining(let link, var draining) = self.phase, draining.isConfirmed, self.requests.isEmpty else {
            return []
        }
        guard draining.hasPublished else {
            switch draining.purpose {
            case .stop: return self.finish(.stopped)
            case .move: return self.fail(.leaving, now: now, chance: chance)
            }
        }
        draining.isConfirmed = false
        draining.hasPublished = false
        self.phase = .draining(link, draining)
        self.pings.append(.drain)
        return [self.send([.ping])]
    }

    private mutating func finish(_ ending: NATSEnding) -> [Action] {
        let hasTransport: Bool
        switch self.phase {
        case .stopped: return []
        case .idle, .resting: hasTransport = false
        case .connecting, .greeting, .securing, .proving, .connected, .draining: hasTransport = true
        }
        self.phase = .stopped
        self.subscriptions = [:]
        self.inboxNumber = nil
        self.hasUnreportedServers = false
        return (hasTransport ? [.close] : []) + self.forgetConnection() + [.report(.stopped(ending))]
    }

    /// Ends what belonged to the connection.
    private mutating func forgetConnection() -> [Action] {
        var actions = self.requests.lost().map { Action.answer($0, .failure(.connectionLost)) }
        for case .flush(let number) in self.pings { actions.append(.flushed(number, false)) }
        self.pings = []
        self.nextPing = nil
        self.pongsDue = 0
        self.leavesAt = nil
        self.hasReportedLeaving = false
        self.inboxRefusal = nil
        self.waitingBytes = 0
        return actions
    }

    // MARK: Attempts

    private mutating func attempt(now: NIODeadline) -> [Action] {
        let member = self.pool.next()
        let limit = self.limit(self.settings.connectTimeout, member)
        self.phase = .connecting(Link(member: member), until: now + limit)
        return [.report(.connecting(member.address)), .connect(member.address, within: limit)]
    }

    private func limit(_ limit: TimeAmount, _ member: ServerPool.Member) -> TimeAmount {
        member.isConfigured ? limit : min(limit, self.settings.learnedTimeout)
    }

    /// Ends the attempt or connection, and waits for the next attempt, or ends for good.
    private mutating func fail(
        _ ending: NATSEnding,
        isOpen: Bool = true,
        now: NIODeadline,
        chance: Double
    ) -> [Action] {
        let link: Link
        switch self.phase {
        case .idle, .resting, .stopped: return []  // late: it has ended
        case .draining(_, let draining) where draining.purpose == .stop: return self.finish(ending)
        case .connecting(let known, _), .greeting(let known, _), .securing(let known, _):
            link = known
        case .proving(let known, _), .connected(let known), .draining(let known, _):
            link = known
            // Before CONNECT a server has no credentials to refuse. What a server of the cluster says is its own.
            if ending.refusesCredentials { self.pool.refused(by: link.member) }
        }
        if let since = link.connectedAt, now - since >= self.settings.settled { self.pool.settled() }
        let wait = self.wait(chance: chance)
        self.phase = .resting(until: now + wait)
        return (isOpen ? [.close] : []) + self.forgetConnection() + [.report(.waiting(ending, wait))]
    }

    private func wait(chance: Double) -> TimeAmount {
        let chance = min(max(chance, 0), 1)
        guard self.pool.isRoundOver, self.pool.rounds > 0 else {
            return .nanoseconds(Int64(Double(self.settings.jitter.nanoseconds) * chance))
        }
        // Only a person can help, here or at the servers.
        if self.pool.isRefusedByAll { return self.settings.longestWait }
        let limit = self.settings.longestWait.nanoseconds
        let step = self.settings.firstWait.nanoseconds.doubled(times: self.pool.rounds - 1, limit: limit)
        return .nanoseconds(max(min(self.settings.shortestWait.nanoseconds, step), Int64(Double(step) * chance)))
    }

    /// The TCP connection is open.
    ///
    /// - Parameter identity: the proof to send; `nil` for a server that needs none.
    package mutating func opened(as identity: NATSIdentity?, now: NIODeadline) -> [Action] {
        guard case .connecting(var link, _) = self.phase else { return [] }
        link.identity = identity
        let until = now + self.limit(self.settings.handshakeTimeout, link.member)
        guard self.settings.encryption == .first else {
            self.phase = .greeting(link, until: until)
            return []
        }
        self.phase = .securing(link, until: until)
        return [.startTLS(TLSPeerName(link.member.certificateName))]
    }

    /// The TLS handshake is complete, and the server's certificate is accepted.
    package mutating func secured(now: NIODeadline, chance: Double) -> [Action] {
        guard case .securing(var link, let until) = self.phase else { return [] }
        link.isEncrypted = true
        guard let info = link.info else {
            self.phase = .greeting(link, until: until)
            return []
        }
        link.info = info.beforeTLS
        return self.prove(link, until: until, now: now, chance: chance)
    }

    /// The attempt has failed, or the connection has ended.
    package mutating func ended(_ ending: NATSEnding, now: NIODeadline, chance: Double) -> [Action] {
        self.fail(ending, isOpen: false, now: now, chance: chance)
    }

    /// The server violated the protocol, or one of our limits.
    package mutating func violated(_ violation: NATSViolation, now: NIODeadline, chance: Double) -> [Action] {
        self.fail(.violation(violation), now: now, chance: chance)
    }

    private mutating func greeted(
        _ info: ServerInformation,
        _ greeted: Link,
        until: NIODeadline,
        now: NIODeadline,
        chance: Double
    ) -> [Action] {
        var link = greeted
        link.info = info
        if link.isEncrypted { return self.prove(link, until: until, now: now, chance: chance) }
        let isWanted = self.settings.encryption == .required || link.member.address.demandsTLS
        guard isWanted || info.requiresTLS else { return self.prove(link, until: until, now: now, chance: chance) }
        // INFO is plain text, so an attacker can remove TLS from it. Then nothing is sent.
        guard info.requiresTLS || info.offersTLS else { return self.fail(.noTLS, now: now, chance: chance) }
        self.phase = .securing(link, until: until)
        return [.startTLS(TLSPeerName(link.member.certificateName))]
    }

    private mutating func prove(_ greeted: Link, until: NIODeadline, now: NIODeadline, chance: Double) -> [Action] {
        var link = greeted
        link.identity = nil
        self.phase = .proving(link, until: until)
        var options = ConnectOptions()
        options.name = self.settings.name
        options.version = self.settings.version
        options.isEncrypted = link.isEncrypted
        options.echoes = self.settings.echoes
        options.hasHeaders = link.info?.supportsHeaders ?? false
        guard let identity = greeted.identity else { return [self.send([.connect(options), .ping])] }
        options.proof = identity.proof(nonce: link.info?.nonce)
        guard options.proof != nil else { return self.fail(.noNonce, now: now, chance: chance) }
        let isExposed = identity.sendsSecret && !link.isEncrypted
        return (isExposed ? self.expose(to: link.member.address) : []) + [self.send([.connect(options), .ping])]
    }

    /// Reports once for each server that its secret can be read on the way.
    private mutating func expose(to address: ServerAddress) -> [Action] {
        guard !address.isLoopback, !self.exposed.contains(where: { $0.isSame(as: address) }) else { return [] }
        self.exposed = self.exposed.suffix(Self.maximumExposed - 1) + [address]
        return [.report(.exposed(address))]
    }

    private mutating func proven(_ proven: Link, now: NIODeadline, chance: Double) -> [Action] {
        var link = proven
        link.connectedAt = now
        self.phase = .connected(link)
        self.nextPing = now + self.settings.pingInterval
        self.pool.accepted(by: link.member)
        let info = link.info ?? ServerInformation()
        var actions: [Action] = []
        let operations = self.subscriptions.sorted { $0.key < $1.key }
            .map { ClientOperation.subscribe($0.value, number: $0.key) }
        if !operations.isEmpty { actions.append(self.send(operations)) }
        actions.append(.report(.connected(link.member.address, info)))
        return actions + self.learn(info, link, now: now, chance: chance)
    }

    /// Takes what a server says about its cluster and about itself.
    private mutating func learn(_ info: ServerInformation, _ link: Link, now: NIODeadline, chance: Double) -> [Action] {
        var actions: [Action] = []
        if self.settings.learnsServers {
            let known = Set(self.servers)
            let addresses = info.clusterAddresses.compactMap(ServerAddress.init(_:))
            self.pool.learn(addresses, from: link.member, isEncrypted: link.isEncrypted, chance: chance)
            if Set(self.servers) != known { actions += self.reportServers(now: now) }
        }
        guard info.isLeaving, !self.hasReportedLeaving else { return actions }
        self.hasReportedLeaving = true
        if self.pool.members.count > 1 {
            self.leavesAt = now + .nanoseconds(Int64(Double(self.settings.leavingWithin.nanoseconds) * chance))
        }
        return actions + [.report(.leaving(link.member.address))]
    }

    /// Reports the servers that are known, now or when there were not too many such reports.
    private mutating func reportServers(now: NIODeadline) -> [Action] {
        guard self.changes.wanted(now: Int64(now.uptimeNanoseconds)) != nil else {
            self.hasUnreportedServers = true
            return []
        }
        self.hasUnreportedServers = false
        return [.report(.servers(self.servers))]
    }

    // MARK: Input

    /// An operation of the server has arrived.
    package mutating func received(_ operation: ServerOperation, now: NIODeadline, chance: Double) -> [Action] {
        switch self.phase {
        case .idle, .resting, .stopped, .connecting: return []  // late: that connection has ended
        case .securing: return self.violated(.plainTextBeforeTLS, now: now, chance: chance)
        case .greeting(let link, let until):
            switch operation {
            case .info(let info): return self.greeted(info, link, until: until, now: now, chance: chance)
            case .error(let refusal): return self.fail(.refused(refusal), now: now, chance: chance)
            case .message, .unreadable: return self.violated(.unexpected(operation: "MSG"), now: now, chance: chance)
            case .ping: return self.violated(.unexpected(operation: "PING"), now: now, chance: chance)
            case .pong: return self.violated(.unexpected(operation: "PONG"), now: now, chance: chance)
            case .ok: return self.violated(.unexpected(operation: "+OK"), now: now, chance: chance)
            }
        case .proving(var link, let until):
            switch operation {
            case .info(let info):
                link.info = info
                self.phase = .proving(link, until: until)
                return []
            case .pong: return self.proven(link, now: now, chance: chance)
            case .ping: return self.pingReceived()
            // The server has a reason not to accept this client, whatever it is.
            case .error(let refusal): return self.fail(.refused(refusal), now: now, chance: chance)
            case .message, .unreadable: return self.violated(.unexpected(operation: "MSG"), now: now, chance: chance)
            case .ok: return []
            }
        case .connected(var link):
            if case .info(let info) = operation {
                link.info = info
                self.phase = .connected(link)
                return self.learn(info, link, now: now, chance: chance)
            }
            return self.use(operation, now: now, chance: chance)
        case .draining:
            let actions = self.use(operation, now: now, chance: chance)
            return actions + self.drained(now: now, chance: chance)
        }
    }

    /// The operations of one read have been received.
    package mutating func readCompleted(now: NIODeadline, chance: Double) -> [Action] {
        guard self.pongsDue > 0 else { return [] }
        // A server that asks and never reads must not fill the memory.
        guard self.waitingBytes < self.settings.maximumWaitingBytes + Self.controlBytes else {
            return self.fail(.stalled, now: now, chance: chance)
        }
        defer { self.pongsDue = 0 }
        return [self.send([ClientOperation](repeating: .pong, count: self.pongsDue))]
    }

    private mutating func use(_ operation: ServerOperation, now: NIODeadline, chance: Double) -> [Action] {
        switch operation {
        case .info, .ok: return []
        case .message(let message, let number): return self.take(message, number)
        case .unreadable(let subject, let number): return self.drop(subject, number, now: now)
        case .ping: return self.pingReceived()
        case .pong: return self.pongReceived()
        case .error(let refusal):
            guard refusal.isHarmless else { return self.fail(.refused(refusal), now: now, chance: chance) }
            return [.report(.refused(refusal))] + self.answers(to: refusal)
        }
    }

    /// The answers of the requests that a refusal concerns.
    private mutating func answers(to refusal: ServerRefusal) -> [Action] {
        switch refusal.kind {
        case .publishing(let subject):
            // There is a refusal for each message. It does not say which one: the oldest must be enough.
            return self.requests.refused(on: subject).map { [.answer($0, .failure(.refused(refusal)))] } ?? []
        case .subscribing(let pattern) where self.inboxNumber != nil && pattern == self.inboxPattern.text:
            self.inboxRefusal = refusal
            return self.requests.lost().map { .answer($0, .failure(.noInbox(refusal))) }
        case .authorization, .expired, .staleConnection, .slowConsumer, .maximumPayload, .maximumConnections,
            .subscribing, .subject, .other:
            return []
        }
    }

    private mutating func take(_ message: NATSMessage, _ number: UInt64) -> [Action] {
        if number == self.inboxNumber {
            guard let request = self.answered(message.subject) else { return [] }
            let isUnanswered = message.headers.status?.code == 503 && message.payload.readableBytes == 0
            return [.answer(request, isUnanswered ? .failure(.noResponders) : .success(message))]
        }
        guard self.subscriptions[number] != nil else { return [] }  // it is no subscription of this client
        return [.deliver(message, subscription: number)]
    }

    /// Takes the request that an answer belongs to; `nil` for a late one, whose request has timed out.
    private mutating func answered(_ subject: String) -> UInt64? {
        guard subject.hasPrefix("\(self.inbox).") else { return nil }
        return self.requests.answered(String(subject.dropFirst(self.inbox.count + 1)))
    }

    /// Leaves out a message that cannot be read. The server has counted it.
    private mutating func drop(_ subject: String, _ number: UInt64, now: NIODeadline) -> [Action] {
        var actions: [Action] = []
        if number == self.inboxNumber {
            guard let request = self.answered(subject) else { return [] }
            actions = [.answer(request, .failure(.unreadable))]
        } else {
            guard self.subscriptions[number] != nil else { return [] }
        }
        guard let others = self.drops.wanted(now: Int64(now.uptimeNanoseconds)) else { return actions }
        return actions + [.report(.dropped(subject: PrintableText.line(subject, limit: 200), others: others))]
    }

    private mutating func pingReceived() -> [Action] {
        self.pongsDue += 1
        return []
    }

    private mutating func pongReceived() -> [Action] {
        guard !self.pings.isEmpty else { return [] }  // unsolicited: without effect
        switch self.pings.removeFirst() {
        case .keepalive: return []
        case .flush(let number): return [.flushed(number, true)]
        case .drain:
            if case .draining(let link, var draining) = self.phase {
                draining.isConfirmed = true
                self.phase = .draining(link, draining)
            }
            return []
        }
    }

    // MARK: Time

    /// Time has passed.
    package mutating func timeReached(now: NIODeadline, chance: Double) -> [Action] {
        var actions = self.requests.expired(at: now).map { Action.answer($0, .failure(.timedOut)) }
        switch self.phase {
        case .idle, .stopped: break
        case .resting(let until):
            if now >= until { actions += self.attempt(now: now) }
        case .connecting(let link, let until):
            guard now >= until else { break }
            let limit = self.limit(self.settings.connectTimeout, link.member)
            actions += self.fail(.unanswered(link.member.address, within: limit), now: now, chance: chance)
        case .greeting(_, let until), .securing(_, let until), .proving(_, let until):
            if now >= until { actions += self.fail(.late, now: now, chance: chance) }
        case .draining(_, let draining):
            if now < draining.until {
                actions += self.drained(now: now, chance: chance)
            } else {
                actions += self.fail(draining.purpose == .stop ? .undrained : .leaving, now: now, chance: chance)
            }
        case .connected(let link):
            if let leavesAt = self.leavesAt, now >= leavesAt {
                actions += self.drain(link, .move, now: now)
            } else if let nextPing = self.nextPing, now >= nextPing {
                actions += self.pingDue(now: now, chance: chance)
            }
        }
        if self.hasUnreportedServers { actions += self.reportServers(now: now) }
        return actions
    }

    private mutating func pingDue(now: NIODeadline, chance: Double) -> [Action] {
        guard self.pings.count(where: { $0 == .keepalive }) < self.settings.maximumPings else {
            return self.fail(.silent, now: now, chance: chance)
        }
        self.nextPing = now + self.settings.pingInterval
        self.pings.append(.keepalive)
        return [self.send([.ping])]
    }

    // MARK: Output

    private mutating func send(_ operations: [ClientOperation]) -> Action {
        var buffer = ByteBuffer()
        for operation in operations { operation.write(into: &buffer) }
        self.waitingBytes += buffer.readableBytes + Self.writeBytes
        return .send(buffer)
    }

    /// So many bytes that were sent by one ``Action/send(_:)`` have left.
    package mutating func bytesLeft(_ count: Int) {
        self.waitingBytes = max(0, self.waitingBytes - count - Self.writeBytes)
    }

    private func checkRoom(for bytes: Int) throws(SendRefusal) {
        guard self.waitingBytes + bytes + Self.writeBytes <= self.settings.maximumWaitingBytes else {
            throw .tooMuchWaiting(bytes: self.waitingBytes)
        }
    }

    /// Subscribes on this and all later connections.
    ///
    /// - Returns: the subscription's number, and the work.
    package mutating func subscribe(_ pattern: NATSPattern) throws(SendRefusal) -> (UInt64, [Action]) {
        // SUB, two blanks and a number of at most twenty digits.
        let line = pattern.text.utf8.count + 32
        guard line <= self.settings.maximumControlLine else { throw .longSubject }
        if case .connected = self.phase { try self.checkRoom(for: line) }
        return self.add(pattern)
    }

    private mutating func add(_ pattern: NATSPattern) -> (UInt64, [Action]) {
        self.lastNumber += 1
        let number = self.lastNumber
        self.subscriptions[number] = pattern
        guard case .connected = self.phase else { return (number, []) }
        return (number, [self.send([.subscribe(pattern, number: number)])])
    }

    /// Publishes a message.
    package mutating func publish(
        _ subject: NATSSubject,
        reply: NATSSubject? = nil,
        headers: NATSHeaders = NATSHeaders(),
        payload: ByteBuffer
    ) throws(SendRefusal) -> [Action] {
        try self.check(subject, reply: reply, headers: headers, payload: payload)
        if case .draining(let link, var draining) = self.phase {
            draining.hasPublished = true
            self.phase = .draining(link, draining)
        }
        return [self.send([.publish(subject, reply: reply, headers: headers, payload: payload)])]
    }

    private func check(
        _ subject: NATSSubject,
        reply: NATSSubject?,
        headers: NATSHeaders,
        payload: ByteBuffer
    ) throws(SendRefusal) {
        let info: ServerInformation
        switch self.phase {
        case .connected(let link), .draining(let link, _): info = link.info ?? ServerInformation()
        case .idle, .resting, .connecting, .greeting, .securing, .proving, .stopped: throw .notConnected
        }
        guard headers.isEmpty || info.supportsHeaders else { throw .noHeaders }
        let bytes = payload.readableBytes + (headers.isEmpty ? 0 : headers.byteCount)
        guard bytes <= info.maximumPayload else { throw .tooLarge(bytes: bytes, limit: info.maximumPayload) }
        // HPUB, three blanks and two numbers of at most ten digits.
        let line = subject.text.utf8.count + (reply?.text.utf8.count ?? 0) + 32
        guard line <= self.settings.maximumControlLine else { throw .longSubject }
        try self.checkRoom(for: bytes + line)
    }

    private var inboxPattern: NATSPattern { NATSPattern(valid: "\(self.inbox).*") }

    /// Sends a request; an ``Action/answer(_:_:)`` with the returned number follows in each case.
    ///
    /// - Parameter token: random letters, digits, `-` and `_`, other ones for each request. They end the subject of the
    ///   answer, so that who does not get the request cannot answer it.
    package mutating func request(
        _ subject: NATSSubject,
        headers: NATSHeaders = NATSHeaders(),
        payload: ByteBuffer,
        token: String,
        within limit: TimeAmount,
        now: NIODeadline
    ) throws(SendRefusal) -> (UInt64, [Action]) {
        let reply = NATSSubject(valid: "\(self.inbox).\(token)")
        if case .draining = self.phase { throw .draining }
        try self.check(subject, reply: reply, headers: headers, payload: payload)
        if let refusal = self.inboxRefusal { throw .noInbox(refusal) }
        guard self.requests.count < self.settings.maximumRequests else {
            throw .tooManyRequests(limit: self.settings.maximumRequests)
        }
        self.lastNumber += 1
        let number = self.lastNumber
        var actions: [Action] = []
        if self.inboxNumber == nil {
            let (inbox, subscribed) = self.add(self.inboxPattern)
            self.inboxNumber = inbox
            actions = subscribed
        }
        self.requests.add(number, token: token, to: subject, until: now + limit)
        actions.append(self.send([.publish(subject, reply: reply, headers: headers, payload: payload)]))
        return (number, actions)
    }

    /// Asks for a PONG behind all that was sent; an ``Action/flushed(_:_:)`` with the returned number follows.
    package mutating func flush() throws(SendRefusal) -> (UInt64, [Action]) {
        guard case .connected = self.phase else { throw .notConnected }
        guard self.pings.count < self.settings.maximumRequests else {
            throw .tooManyRequests(limit: self.settings.maximumRequests)
        }
        try self.checkRoom(for: 6)
        self.lastNumber += 1
        self.pings.append(.flush(self.lastNumber))
        return (self.lastNumber, [self.send([.ping])])
    }
}
