import HTTP
import Feeds
import NIOConcurrencyHelpers
import Platform
import Relay
import ServiceLifecycle

/// The relay of a program, which listens as soon as its address is free.
///
/// The program that holds the key listens at once. Another program with the same address waits until it takes over the
/// key, and then takes over the address as well. Clients therefore always find a relay at the same address.
final class RelayService: Sendable {
    /// The interval of checks whether the relay may listen. A takeover may last 2 s in all.
    private static let interval = Duration.milliseconds(250)

    /// The number of failures after which the address probably belongs to another program than a closing relay.
    private static let mostFailures = 8

    /// The wait for what another program still writes, and for the disk: at the start, which it delays, and after a
    /// takeover, when that program closes its relay and its files.
    private static let preparationLimit = Duration.seconds(2)

    /// The wait for the lock's disk. Without its answer, the key's owner is unknown.
    private static let lockLimit = Duration.seconds(2)

    let server: RelayServer
    private let place: RelayPlace
    private let state: RelayState
    /// The storage with the lock of the key; `nil` if there is none.
    private let key: NIOLockedValueBox<KeyStorage?>
    /// Gives the relay what clients expect of it from the first moment on. Called before it listens.
    private let prepare: @Sendable (Duration) async -> Void
    /// Shows the state; without a screen, lines on standard error report it.
    private let display: DisplayService?
    private let opened = NIOLockedValueBox<Opened?>(nil)

    /// The state of a listening relay; `endpoint` is `nil` if it listens on a Unix socket only.
    private struct Opened {
        var endpoint: Endpoint?
    }

    /// - Parameters:
    ///   - server: the relay, not started yet.
    ///   - key: the storage with the key's lock, if there is one.
    ///   - prepare: called once, before the relay listens, with the limit of its waits for another program.
    init(
        _ server: RelayServer,
        at place: RelayPlace,
        state: RelayState,
        key: KeyStorage?,
        display: DisplayService?,
        prepare: @escaping @Sendable (Duration) async -> Void
    ) {
        self.server = server
        self.prepare = prepare
        self.place = place
        self.state = state
        self.key = NIOLockedValueBox(key)
        self.display = display
    }

    /// The address of the relay for programs of this machine, as ``RelayState/address``.
    var address: UpstreamAddress? { self.state.address }

    private func become(_ phase: RelayState.Phase) {
        if self.state.become(phase) { self.display?.display.relayChanged() }
    }

    /// Prints a line, unless a screen is drawn, which the line would disturb.
    private func report(_ line: String) {
        if self.display?.isScreen != true { Console.printError(line) }
    }

    /// Listens at once, unless another program holds the key.
    ///
    /// - Throws: ``OperatorError`` when the address cannot be used.
    func open() async throws {
        if case .others(let owner)? = await self.claim() {
            return self.become(self.mayListen(beside: owner) ? .waiting(nil) : .others(owner))
        }
        await self.prepare(Self.preparationLimit)
        do {
            try await self.listen()
        } catch let error as RelayError {
            throw OperatorError(error.description, status: error.isAddressTaken ? .addressInUse : .configuration)
        }
    }

    /// Prints the relay's addresses if it listens.
    func announce() {
        guard let opened = self.opened.withLockedValue({ $0 }) else { return }
        var places: [String] = []
        if let endpoint = opened.endpoint { places.append("\(self.place.url(at: endpoint))/") }
        if let socket = self.place.socket { places.append("ws+unix:\(socket):/") }
        var others = RelayProtocols.builtIn(self.place.settings).paths.filter { $0 != "/" }
        let last = others.popLast().map { " and \($0)" } ?? ""
        let paths = others.map { ", \($0)" }.joined() + last
        self.report("the relay is on \(places.joined(separator: " and ")) (Finnhub's protocol)\(paths)")
        if let lines = self.server.linesAddress, let host = self.place.settings.lines?.host {
            self.report("plain lines are on \(Endpoint(host: host, port: lines.port ?? 0)) (docs/lines.md)")
        }
    }

    /// The service that listens when it may, and stops the relay at the end.
    var part: NamedService {
        NamedService("relay") {
            let opening = Task { await self.openLater() }
            try? await gracefulShutdown()
            opening.cancel()
            await self.server.stop()
        }
    }

    /// Ends the relay after a replay, and gives clients time to read their queues.
    func finish() async {
        self.become(.closed)
        await self.server.finish()
    }

    /// Returns the owner of the key; `nil` without a lock, or if its disk does not answer.
    private func claim() async -> KeyClaim? {
        guard let key = self.key.withLockedValue({ $0 }), let lock = key.lock else { return nil }
        return await key.lockDisk.answer(within: Self.lockLimit) { lock.claim() }
    }

    /// Notes that the program uses another key from now on.
    func keyChanged(to key: KeyStorage) {
        let before = self.key.withLockedValue { present in
            defer { present = key }
            return present
        }
        self.describe()
        guard let before, self.opened.withLockedValue({ $0 == nil }) else { return }
        // The wait for the address may have claimed the key before after the feed has released it.
        Task {
            try? await Task.sleep(for: Self.lockLimit)
            before.lockDisk.submit { before.lock?.release() }
        }
    }

    /// Writes into the lock's file where the relay is, if it listens.
    private func describe() {
        guard let opened = self.opened.withLockedValue({ $0 }), let key = self.key.withLockedValue({ $0 }),
            let lock = key.lock
        else { return }
        let owner = self.place.address(at: opened.endpoint).map { KeyOwner.Relay.at($0) } ?? .off
        key.lockDisk.submit { lock.announce(owner) }
    }

    /// Waits until the relay may listen, and starts it. The program's end cancels the task.
    private func openLater() async {
        guard self.key.withLockedValue({ $0?.lock != nil }), self.opened.withLockedValue({ $0 == nil }) else { return }
        var reported: String?
        var failures = 0
        var isPrepared = false
        while !Task.isCancelled {
            switch await self.claim() {
            case nil: break
            case .others(let owner)? where !self.mayListen(beside: owner):
                self.become(.others(owner))
                if case .at(let address)? = owner?.relay, let pid = owner?.pid {
                    let line = "the relay on \(address) is that of another tickertape (pid \(pid))"
                    if reported != line { self.report(line) }
                    reported = line
                }
            case .mine?, .others?:
                if !isPrepared {
                    isPrepared = true
                    await self.prepare(Self.preparationLimit)
                    if Task.isCancelled { return }
                }
                do {
                    try await self.listen()
                    self.announce()
                    return
                } catch {
                    // Either the other program's relay has not closed yet, or a third program uses the address.
                    failures += 1
                    self.become(.waiting("\(error)"))
                    if failures == Self.mostFailures { self.report("warning: \(error)") }
                }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Whether this relay's address differs from the one of the program that holds the key.
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
        self.describe()
    }
}

extension RelayError {
    /// Whether another address would avoid the error.
    fileprivate var isAddressTaken: Bool {
        switch self {
        case .addressInUse, .cannotListen, .socketInUse, .cannotListenForLines: true
        case .needsToken, .linesNeedToken, .cannotMakeSocket, .alreadyStarted: false
        }
    }
}
