package import NIOCore
import TLS
import WebSocket
import Wire

/// A client of NATS on an event loop: a ``NATSMachine`` with its connection, its timer and its callers.
///
/// All methods must be called on the loop. The client lives until it is stopped or drained. Then it has no
/// subscriptions and holds no reader.
package final class NATSClient {
    private let transport: any NATSTransport
    private let loop: any EventLoop
    package weak var delegate: (any NATSClientDelegate)?
    /// Uniformly distributed from 0 to 1.
    private let chance: () -> Double
    private var machine: NATSMachine
    /// The present connection.
    private var handler: NATSHandler?
    /// The number of the present attempt.
    private var attempt = 0
    private var timer = DeadlineTimer(wheel: nil)
    private let token: () -> String
    private var readers: [UInt64: (NATSMessage) -> Void] = [:]
    private var requests: [UInt64: EventLoopPromise<NATSMessage>] = [:]
    private var flushes: [UInt64: EventLoopPromise<Void>] = [:]
    private var stopped: EventLoopPromise<Void>?
    /// What remains to do. A reader may call the client while another action is carried out.
    private var actions: [NATSMachine.Action] = []
    private var isPerforming = false

    /// - Parameters:
    ///   - chance: uniformly distributed from 0 to 1.
    ///   - token: letters, digits, `-` and `_` that cannot be guessed, other ones each time.
    package init(
        _ settings: NATSSettings,
        transport: any NATSTransport,
        on loop: any EventLoop,
        delegate: (any NATSClientDelegate)? = nil,
        chance: @escaping () -> Double = { Double.random(in: 0...1) },
        token: @escaping () -> String = NATSClient.randomToken
    ) {
        self.transport = transport
        self.loop = loop
        self.delegate = delegate
        self.chance = chance
        self.token = token
        self.machine = NATSMachine(settings, inboxToken: token(), chance: chance())
    }

    /// Returns 128 bits of the system's generator as text.
    package static func randomToken() -> String {
        Base64.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }, as: .url)
    }

    // MARK: Use

    /// The server and what it has said, while there is a connection.
    package var connection: (server: ServerAddress, info: ServerInformation)? { self.machine.connection }

    package func start() { self.perform(self.machine.start(now: self.loop.now)) }

    /// Ends at once.
    package func stop() { self.perform(self.machine.stop()) }

    /// Ends after what was sent has been processed; the future completes at the end. It fails with the ``NATSEnding``
    /// that came before.
    package func drain() -> EventLoopFuture<Void> {
        if self.machine.isStopped { return self.loop.makeSucceededVoidFuture() }
        let promise = self.stopped ?? self.loop.makePromise()
        self.stopped = promise
        self.perform(self.machine.drain(now: self.loop.now))
        return promise.futureResult
    }

    /// Subscribes on this and all later connections, until the client stops.
    ///
    /// - Parameter reader: called on the loop with each message.
    package func subscribe(_ pattern: NATSPattern, _ reader: @escaping (NATSMessage) -> Void) throws(SendRefusal) {
        let (number, actions) = try self.machine.subscribe(pattern)
        self.readers[number] = reader
        self.perform(actions)
    }

    package func publish(
        _ subject: NATSSubject,
        reply: NATSSubject? = nil,
        headers: NATSHeaders = NATSHeaders(),
        payload: ByteBuffer
    ) throws(SendRefusal) {
        self.perform(try self.machine.publish(subject, reply: reply, headers: headers, payload: payload))
    }

    /// Sends a request; the future fails with ``RequestFailure``.
    package func request(
        _ subject: NATSSubject,
        headers: NATSHeaders = NATSHeaders(),
        payload: ByteBuffer = ByteBuffer(),
        within limit: TimeAmount = .seconds(2)
    ) -> EventLoopFuture<NATSMessage> {
        let promise = self.loop.makePromise(of: NATSMessage.self)
        do throws(SendRefusal) {
            let (number, actions) = try self.machine.request(
                subject,
                headers: headers,
                payload: payload,
                token: self.token(),
                within: limit,
                now: self.loop.now
            )
            self.requests[number] = promise
            self.perform(actions)
        } catch {
            promise.fail(RequestFailure.notSent(error))
        }
        return promise.futureResult
    }

    /// Completes when the server has processed all that was sent before. It fails with ``RequestFailure``.
    package func flush() -> EventLoopFuture<Void> {
        let promise = self.loop.makePromise(of: Void.self)
        do throws(SendRefusal) {
            let (number, actions) = try self.machine.flush()
            self.flushes[number] = promise
            self.perform(actions)
        } catch {
            promise.fail(RequestFailure.notSent(error))
        }
        return promise.futureResult
    }

    // MARK: Actions

    private func perform(_ actions: [NATSMachine.Action]) {
        self.actions += actions
        guard !self.isPerforming else { return }
        self.isPerforming = true
        while !self.actions.isEmpty {
            let batch = self.actions
            self.actions = []
            for action in batch { self.perform(action) }
        }
        self.isPerforming = false
        self.arm()
    }

    private func perform(_ action: NATSMachine.Action) {
        switch action {
        case .connect(let address, let limit): self.connect(to: address, within: limit)
        case .startTLS(let peer): self.startTLS(peer)
        case .send(let bytes): self.write(bytes)
        case .deliver(let message, let number): self.readers[number]?(message)
        case .answer(let number, let result):
            self.requests.removeValue(forKey: number)?.completeWith(result.mapError { $0 as any Error })
        case .flushed(let number, let isDone):
            let promise = self.flushes.removeValue(forKey: number)
            if isDone { promise?.succeed() } else { promise?.fail(RequestFailure.connectionLost) }
        case .report(let report):
            switch report {
            case .stopped(let ending):
                self.readers = [:]
                let promise = self.stopped
                self.stopped = nil
                if ending == .stopped { promise?.succeed() } else { promise?.fail(ending) }
            case .connecting, .connected, .waiting, .refused, .dropped, .exposed, .servers, .leaving: break
            }
            self.delegate?.natsClientReported(report)
        case .close:
            self.attempt += 1
            self.leave()
        }
    }

    private func connect(to address: ServerAddress, within limit: TimeAmount) {
        self.attempt += 1
        let attempt = self.attempt
        self.transport.identity(on: self.loop).assumeIsolated().whenComplete { result in
            guard attempt == self.attempt else { return }
            switch result {
            case .success(let identity): self.connect(to: address, within: limit, as: identity)
            case .failure(let error): self.failed(.noIdentity("\(error)"))
            }
        }
    }

    private func connect(to address: ServerAddress, within limit: TimeAmount, as identity: NATSIdentity?) {
        let attempt = self.attempt
        self.transport.connect(to: address, within: limit, on: self.loop).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel) where attempt != self.attempt: channel.close(promise: nil)
            case .success(let channel): self.use(channel, as: identity)
            case .failure(let error):
                if attempt == self.attempt { self.failed(.unreachable("\(error)")) }
            }
        }
    }

    /// The attempt has failed before there was a connection.
    private func failed(_ ending: NATSEnding) {
        self.perform(self.machine.ended(ending, now: self.loop.now, chance: self.chance()))
    }

    private func use(_ channel: any Channel, as identity: NATSIdentity?) {
        // Its end was before there was a handler to notice it.
        guard channel.isActive else { return self.failed(.lost) }
        let handler = NATSHandler(limits: self.machine.settings.limits, owner: self)
        self.handler = handler
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            channel.close(promise: nil)
            self.ended(.lost, by: handler)
            return
        }
        self.perform(self.machine.opened(as: identity, now: self.loop.now))
    }

    private func startTLS(_ peer: TLSPeerName) {
        guard let handler = self.handler else { return }
        self.transport.tlsContext(on: self.loop).assumeIsolated().whenComplete { result in
            guard self.handler === handler else { return }
            switch result {
            case .success(let context): handler.startTLS(context, peer: peer)
            case .failure(let error): self.ended(.insecure("\(error)"), by: handler)
            }
        }
    }

    private func write(_ bytes: ByteBuffer) {
        guard let handler = self.handler, let channel = handler.channel else { return }
        let count = bytes.readableBytes
        channel.writeAndFlush(bytes).assumeIsolated().whenComplete { _ in
            if self.handler === handler { self.machine.bytesLeft(count) }
        }
    }

    /// Closes the connection without hearing of it again.
    private func leave() {
        self.handler?.detach()
        self.handler?.channel?.close(promise: nil)
        self.handler = nil
    }

    // MARK: Time

    private func arm() {
        guard let deadline = self.machine.deadline else { return self.timer.cancel() }
        self.timer.arm(for: [deadline], on: self.loop) {
            self.timer.fired()
            self.perform(self.machine.timeReached(now: self.loop.now, chance: self.chance()))
        }
    }
}

extension NATSClient: NATSHandlerOwner {
    func received(_ operation: ServerOperation, by handler: NATSHandler) {
        guard self.handler === handler else { return }
        self.perform(self.machine.received(operation, now: self.loop.now, chance: self.chance()))
    }

    func readCompleted(by handler: NATSHandler) {
        guard self.handler === handler else { return }
        self.perform(self.machine.readCompleted(now: self.loop.now, chance: self.chance()))
    }

    func violated(_ violation: NATSViolation, by handler: NATSHandler) {
        guard self.handler === handler else { return }
        self.perform(self.machine.violated(violation, now: self.loop.now, chance: self.chance()))
    }

    func secured(_ handler: NATSHandler) {
        guard self.handler === handler else { return }
        self.perform(self.machine.secured(now: self.loop.now, chance: self.chance()))
    }

    func ended(_ ending: NATSEnding, by handler: NATSHandler) {
        guard self.handler === handler else { return }
        self.leave()
        self.perform(self.machine.ended(ending, now: self.loop.now, chance: self.chance()))
    }
}
