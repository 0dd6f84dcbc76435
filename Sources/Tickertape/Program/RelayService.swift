import Feeds
import NIOConcurrencyHelpers
import Platform
import Relay
import ServiceLifecycle

/// The relay of a program, which listens as soon as its address is free for it.
///
/// The program that holds the key listens at once. Another on the same address leaves that to it, and takes the address
/// over together with the key, so that clients find a relay where it always was.
final class RelayService: Sendable {
    /// How often to look whether the relay may listen by now; a takeover may take 2 s in all.
    private static let interval = Duration.milliseconds(250)

    /// After so many failures it is not a relay that is about to close.
    private static let mostFailures = 8

    /// How long the lock's disk is waited for; without its answer it is not known who holds the key.
    private static let lockLimit = Duration.seconds(2)

    let server: RelayServer
    private let place: RelayPlace
    private let state: RelayState
    private let lock: KeyLock?
    /// Does what waits for the lock's disk.
    private let lockDisk: (any DiskWorker)?
    /// Shows the state; without a picture lines tell it.
    private let display: DisplayService?
    private let opened = NIOLockedValueBox<Opened?>(nil)

    /// Where it listens, if not at the socket file alone.
    private struct Opened {
        var endpoint: Endpoint?
    }

    /// - Parameters:
    ///   - server: the relay, which is not started.
    ///   - key: the lock of the key, where there is one.
    init(
        _ server: RelayServer,
        at place: RelayPlace,
        state: RelayState,
        key: KeyStorage?,
        display: DisplayService?
    ) {
        self.server = server
        self.place = place
        self.state = state
        self.lock = key?.lock
        self.lockDisk = key?.lockDisk
        self.display = display
    }

    private func become(_ phase: RelayState.Phase) {
        if self.state.become(phase) { self.display?.display.relayChanged() }
    }

    /// Prints a line, where there is no picture which it would tear.
    private func report(_ line: String) {
        if self.display?.isScreen != true { Console.complain(line) }
    }

    /// Listens at once, unless another program holds the key.
    ///
    /// - Throws: ``OperatorError`` when the address cannot be used.
    func open() async throws {
        if case .others(let owner)? = await self.claim() {
            return self.become(self.mayListen(beside: owner) ? .waiting(nil) : .others(owner?.pid))
        }
        do {
            try await self.listen()
        } catch let error as RelayError {
            throw OperatorError(error.description, status: error.isAddressTaken ? .addressInUse : .configuration)
        }
    }

    /// Prints where it listens, if it does.
    func announce() {
        guard let opened = self.opened.withLockedValue({ $0 }) else { return }
        var places: [String] = []
        if let endpoint = opened.endpoint { places.append("\(self.place.url(at: endpoint))/") }
        if let socket = self.place.socket { places.append("ws+unix:\(socket):/") }
        self.report("the relay is on \(places.joined(separator: " and ")) (Finnhub's protocol) and /v1/stream")
    }

    /// Listens when it may, until the program stops.
    var part: NamedService {
        NamedService("relay") {
            let opening = Task { await self.openLater() }
            try? await gracefulShutdown()
            opening.cancel()
            await self.server.stop()
        }
    }

    /// Ends the relay with the replay behind it: clients have time to read what is queued for them.
    func finish() async {
        self.become(.closed)
        await self.server.finish()
    }

    /// The owner of the key; `nil` where there is no lock, or its disk does not answer.
    private func claim() async -> KeyClaim? {
        guard let lock, let lockDisk else { return nil }
        return await lockDisk.answer(within: Self.lockLimit) { lock.claim() }
    }

    /// Listens as soon as it may, and returns then; for a task that is cancelled at the program's end.
    private func openLater() async {
        guard self.lock != nil, self.opened.withLockedValue({ $0 == nil }) else { return }
        var reported: String?
        var failures = 0
        while !Task.isCancelled {
            switch await self.claim() {
            case nil: break
            case .others(let owner)? where !self.mayListen(beside: owner):
                self.become(.others(owner?.pid))
                if case .at(let address)? = owner?.relay, let pid = owner?.pid {
                    let line = "the relay on \(address) is that of another tickertape (pid \(pid))"
                    if reported != line { self.report(line) }
                    reported = line
                }
            case .mine?, .others?:
                do {
                    try await self.listen()
                    self.announce()
                    return
                } catch {
                    // The other program's relay, which is about to close, or a third program.
                    failures += 1
                    self.become(.waiting("\(error)"))
                    if failures == Self.mostFailures { self.report("warning: \(error)") }
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
                self.place.socket.map { FilePath.absolute($0) != path } ?? true
            } else {
                self.place.settings.listen.map { $0.port == 0 || $0.port != address.port } ?? true
            }
        }
    }

    private func listen() async throws {
        let address = try await self.server.start()
        let endpoint = self.place.settings.listen.map { Endpoint(host: $0.host, port: address.port ?? $0.port) }
        self.opened.withLockedValue { $0 = Opened(endpoint: endpoint) }
        self.become(.open(endpoint))
        guard let lock, let lockDisk else { return }
        let owner = self.ownerPlace(endpoint)
        lockDisk.submit { lock.announce(owner) }
    }

    /// Where other programs of this user find the relay.
    private func ownerPlace(_ endpoint: Endpoint?) -> KeyOwner.Relay {
        guard let endpoint else {
            return self.place.socket.map { .at(UpstreamAddress(socketPath: FilePath.absolute($0))) } ?? .off
        }
        let here = endpoint.fromHere
        return .at(UpstreamAddress(isEncrypted: self.place.isEncrypted, host: here.host, port: here.port))
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
