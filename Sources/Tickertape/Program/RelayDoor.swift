import Feeds
import NIOConcurrencyHelpers
import Platform
import Recordings
import Relay
import Terminal

/// The relay of a live program, which listens as soon as its address is free for it.
///
/// The program that holds the key listens at once. Another on the same address leaves that to it, and takes the address
/// over together with the key, so that clients find a relay where it always was.
final class RelayDoor: Sendable {
    /// How often to look whether the relay may listen by now; a takeover may take 2 s in all.
    private static let interval = Duration.milliseconds(250)

    /// After so many failures it is not a relay that is about to close.
    private static let patience = 8

    /// How long the lock's disk is waited for; without its answer nobody is known to hold the key.
    private static let lockLimit = Duration.seconds(2)

    let relay: RelayServer
    /// Where it is to listen; port 0 takes any, and `nil` is for the socket file alone.
    let listen: Endpoint?
    /// Whether it speaks TLS there.
    let isEncrypted: Bool
    /// The socket file it is to listen at, beside that or instead.
    let socket: String?
    private let lock: KeyLock?
    /// Does what waits for the lock's disk.
    private let lockDisk: (any DiskWorker)?
    private let opened = NIOLockedValueBox<Opened?>(nil)
    /// What has become of it, for people, and who is called when that changes.
    private let fate = NIOLockedValueBox<(state: Fate, changed: @Sendable () -> Void)>((.waiting(nil), {}))
    /// Tells the person where the relay is; nobody where there is a picture.
    private let tell = NIOLockedValueBox<@Sendable (String) -> Void>({ _ in })

    init(
        relay: RelayServer,
        listen: Endpoint?,
        isEncrypted: Bool,
        socket: String?,
        lock: KeyLock?,
        lockDisk: (any DiskWorker)?
    ) {
        self.relay = relay
        self.isEncrypted = isEncrypted
        self.listen = listen
        self.socket = socket
        self.lock = lock
        self.lockDisk = lockDisk
    }

    /// That it listens, and at which address, if not at the socket file alone.
    private struct Opened {
        var endpoint: Endpoint?
    }

    /// What has become of the relay.
    private enum Fate: Equatable {
        /// It does not listen yet; with the reason, if one is known.
        case waiting(String?)
        /// The address is that of another program's relay.
        case others(Int32?)
        case open
        case closed
    }

    /// What a screen says of the relay. From any thread.
    var shown: DisplayRelay {
        switch self.fate.withLockedValue({ $0.state }) {
        case .waiting(let reason): .waiting(self.url, reason: reason)
        case .others(let pid): .others(self.url, pid: pid)
        case .open: .open(self.url)
        case .closed: .closed(self.url)
        }
    }

    /// Has `changed` called whenever ``shown`` is another one. For one watcher, on any thread.
    func watch(_ changed: @escaping @Sendable () -> Void) { self.fate.withLockedValue { $0.changed = changed } }

    private func become(_ state: Fate) {
        let changed = self.fate.withLockedValue { fate in
            // One that is closed stays so.
            guard fate.state != state, fate.state != .closed else { return nil as (@Sendable () -> Void)? }
            fate.state = state
            return fate.changed
        }
        changed?()
    }

    /// Ends the relay with the replay behind it: clients have time to read what is queued for them.
    func finish() async {
        self.become(.closed)
        await self.relay.finish()
    }

    /// Where it listens, or will, as a person writes it.
    var url: String {
        let endpoint = self.opened.withLockedValue { $0 }?.endpoint ?? self.listen
        return endpoint.map { self.url(at: $0) } ?? "ws+unix:\(self.socket ?? "")"
    }

    private func url(at endpoint: Endpoint) -> String { "\(self.isEncrypted ? "wss" : "ws")://\(endpoint)" }

    /// Listens at once, unless another program holds the key.
    ///
    /// - Throws: ``OperatorError`` when the address cannot be used.
    func open() async throws {
        if case .others(let owner)? = await self.claim() {
            return self.become(self.mayListen(beside: owner) ? .waiting(nil) : .others(owner?.pid))
        }
        do {
            try await self.listenNow()
        } catch let error as RelayError {
            throw OperatorError(error.description, status: error.isAddressTaken ? .addressInUse : .configuration)
        }
    }

    /// Whose the key is; `nil` where there is no lock, or its disk does not answer.
    private func claim() async -> KeyClaim? {
        guard let lock, let lockDisk else { return nil }
        return await lockDisk.answer(within: Self.lockLimit) { lock.claim() }
    }

    /// Says where the relay is, now or when it listens.
    func announce(_ tell: @escaping @Sendable (String) -> Void) {
        self.tell.withLockedValue { $0 = tell }
        guard let opened = self.opened.withLockedValue({ $0 }) else { return }
        var places: [String] = []
        if let endpoint = opened.endpoint { places.append("\(self.url(at: endpoint))/") }
        if let socket { places.append("ws+unix:\(socket):/") }
        tell("the relay is on \(places.joined(separator: " and ")) (Finnhub's protocol) and /v1/stream")
    }

    /// Listens as soon as it may, and returns then; for a task that is cancelled at the program's end.
    func openLater() async {
        guard self.lock != nil, self.opened.withLockedValue({ $0 == nil }) else { return }
        var told: String?
        var failures = 0
        while !Task.isCancelled {
            switch await self.claim() {
            case nil: break
            case .others(let owner)? where !self.mayListen(beside: owner):
                self.become(.others(owner?.pid))
                if case .at(let address)? = owner?.relay, let pid = owner?.pid {
                    let words = "the relay on \(address) is that of another tickertape (pid \(pid))"
                    if told != words { self.tell.withLockedValue { $0 }(words) }
                    told = words
                }
            case .mine?, .others?:
                do {
                    try await self.listenNow()
                    self.announce(self.tell.withLockedValue { $0 })
                    return
                } catch {
                    // The other program's relay, which is about to close, or somebody else's.
                    failures += 1
                    self.become(.waiting("\(error)"))
                    if failures == Self.patience { self.tell.withLockedValue { $0 }("warning: \(error)") }
                }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Whether the address is another one than that of the program that holds the key.
    private func mayListen(beside owner: KeyOwner?) -> Bool {
        switch owner?.relay {
        case .unknown?, nil: false
        case .off?: true
        case .at(let address)?:
            if let path = address.socketPath {
                self.socket.map { FilePath.absolute($0) != path } ?? true
            } else {
                self.listen.map { $0.port == 0 || $0.port != address.port } ?? true
            }
        }
    }

    private func listenNow() async throws {
        let address = try await self.relay.start()
        let endpoint = self.listen.map { Endpoint(host: $0.host, port: address.port ?? $0.port) }
        self.opened.withLockedValue { $0 = Opened(endpoint: endpoint) }
        self.become(.open)
        guard let lock, let lockDisk else { return }
        let place = self.place(of: endpoint)
        lockDisk.submit { lock.announce(place) }
    }

    /// Where other programs of this user find the relay.
    private func place(of endpoint: Endpoint?) -> KeyOwner.Relay {
        guard let endpoint else {
            return self.socket.map { .at(UpstreamAddress(socketPath: FilePath.absolute($0))) } ?? .off
        }
        let here = endpoint.fromHere
        return .at(UpstreamAddress(isEncrypted: self.isEncrypted, host: here.host, port: here.port))
    }
}

extension RelayError {
    /// Whether another address would do.
    fileprivate var isAddressTaken: Bool {
        switch self {
        case .addressInUse, .cannotListen, .socketInUse: true
        case .needsToken, .cannotMakeSocket, .alreadyStarted: false
        }
    }
}
