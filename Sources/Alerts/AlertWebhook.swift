import HTTP
package import Market
package import NIOCore
import NIOHTTP1
import NIOPosix
package import TLS
import Wire

/// The webhook for alerts: an HTTP POST of each, as JSON, over our own TLS if the URL says `https`.
///
/// It works on its own loop, never the feed's. It makes two requests at a time, each with a limit, and repeats one
/// twice if it failed for a temporary reason. The description of a failure never holds the URL or a part of it.
package final class AlertWebhook: Sendable {
    package struct Limits: Sendable {
        /// The limit for one attempt, from the name's resolution to the end of the answer.
        package var time = TimeAmount.seconds(10)
        /// The pauses before the second and the third attempt.
        package var pauses: [TimeAmount] = [.seconds(1), .seconds(5)]
        package var atOnce = 2
        package var waiting = 64
        /// The largest answer that is read, in bytes.
        package var answer = 64 << 10

        package init() {}
    }

    private struct State {
        var queue: JobQueue<ByteBuffer>
        /// Whether no more alerts are accepted.
        var isStopping = false
        /// Whether no more attempts are made.
        var isClosed = false
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let address: WebhookAddress
    private let context: TLSContext?
    private let loop: any EventLoop
    private let limits: Limits
    private let meter: JobMetrics
    private let agent: String
    private let state: NIOLoopBoundBox<State>

    /// - Parameters:
    ///   - tls: the trusted certificates, used for an encrypted address.
    ///   - loop: the loop of all requests; not the feed's.
    ///   - agent: the value of `User-Agent`.
    /// - Throws: ``TLSError`` if the trust roots cannot be used.
    package init(
        _ address: WebhookAddress,
        tls: TLSClientConfiguration,
        loop: any EventLoop,
        limits: Limits = Limits(),
        agent: String,
        meter: JobMetrics
    ) throws(TLSError) {
        self.address = address
        self.context = address.isEncrypted ? try TLSContext(client: tls) : nil
        self.loop = loop
        self.limits = limits
        self.meter = meter
        self.agent = agent
        let queue = JobQueue<ByteBuffer>(capacity: limits.waiting, atOnce: limits.atOnce)
        self.state = .makeBoxSendingValue(State(queue: queue), eventLoop: loop)
    }

    /// Queues an alert for the webhook. May be called on any thread; never waits.
    package func notify(_ alert: Alert) {
        self.loop.execute {
            let refusal = self.state.withValue { state -> String? in
                if state.isStopping { return "an alert at the end of the program was left out" }
                return state.queue.add(AlertText.json(alert)) ? nil : "too many alerts at once; one was left out"
            }
            if let refusal { return self.meter.ended(.dropped, reason: refusal) }
            self.startNext()
        }
    }

    /// Waits until all alerts have been delivered or have failed, at most for `limit`.
    package func finish(atMost limit: Duration) async {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < limit, !Task.isCancelled {
            let isIdle = (try? await self.loop.submit { self.state.withValue { $0.queue.isIdle } }.get()) ?? true
            if isIdle { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Accepts no more alerts, gives the others `limit`, and then closes the connections.
    package func stop(atMost limit: Duration) async {
        try? await self.loop.submit { self.state.withValue { $0.isStopping = true } }.get()
        await self.finish(atMost: limit)
        try? await self.loop.submit {
            let channels = self.state.withValue { state in
                state.isClosed = true
                state.queue.clear()
                return Array(state.channels.values)
            }
            for channel in channels { channel.close(promise: nil) }
        }.get()
    }

    // MARK: On the loop

    private func startNext() {
        while let body = self.state.withValue({ $0.queue.start() }) { self.attempt(body, number: 0) }
    }

    private func attempt(_ body: ByteBuffer, number: Int) {
        self.post(body).assumeIsolated().whenComplete { result in
            guard case .failure(let failure) = result.mapError(WebhookFailure.init) else {
                return self.ended(.done, reason: "")
            }
            let isClosed = self.state.withValue { $0.isClosed }
            guard failure.mayPass, number < self.limits.pauses.count, !isClosed else {
                let tries = number == 0 ? "" : ", at \(number + 1) attempts"
                return self.ended(.failed, reason: "\(failure.words)\(tries)")
            }
            self.loop.assumeIsolated().scheduleTask(in: self.limits.pauses[number]) {
                self.attempt(body, number: number + 1)
            }
        }
    }

    private func ended(_ outcome: JobMetrics.Outcome, reason: String) {
        self.meter.ended(outcome, reason: reason)
        self.state.withValue { $0.queue.ended() }
        self.startNext()
    }

    /// Makes one request. The future fails with a ``WebhookFailure`` or an error of the connection.
    private func post(_ body: ByteBuffer) -> EventLoopFuture<Void> {
        let address = self.address
        let headers: HTTPHeaders = [
            "Host": address.authority, "User-Agent": self.agent, "Content-Type": "application/json",
            "Content-Length": "\(body.readableBytes)", "Accept": "*/*", "Connection": "close",
        ]
        let exchange = OutgoingExchange(
            HTTPRequestHead(version: .http1_1, method: .POST, uri: address.target, headers: headers),
            body: body,
            timeout: self.limits.time,
            maximumBytes: self.limits.answer,
            // Only the status of the answer counts; its body is not read.
            takesPartialBody: true
        )
        let connection = DirectConnection(
            .host(address.host, port: address.port),
            tls: self.context.map { ($0, TLSPeerName(address.host)) },
            timeout: self.limits.time
        )
        return exchange.run(on: self.loop) { loop, reached, ready in
            connection.open(
                on: loop,
                reached: { channel in
                    try reached(channel)
                    self.keep(channel)
                },
                ready: ready
            )
        }.flatMapThrowing { outcome in
            let status = try outcome.get().head.status
            guard (200..<300).contains(status.code) else { throw WebhookFailure(status: Int(status.code)) }
        }
    }

    /// Holds a channel while it is open, so that ``stop(atMost:)`` can close it.
    private func keep(_ channel: any Channel) {
        self.state.withValue { $0.channels[ObjectIdentifier(channel)] = channel }
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            _ = self.state.withValue { $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
        }
    }
}

/// The failure of a webhook, in words without the URL or a part of it.
struct WebhookFailure: Error, Equatable {
    var words: String
    /// Whether another attempt may succeed.
    var mayPass: Bool

    init(words: String, mayPass: Bool) {
        self.words = words
        self.mayPass = mayPass
    }

    init(status: Int) {
        self.words = "the server answered \(status)"
        self.mayPass = status >= 500 || status == 429 || status == 408
        if (300..<400).contains(status) { self.words += ", a redirect, which is not followed; set the new URL" }
        if status == 401 || status == 403 || status == 404 { self.words += "; check the URL" }
    }

    init(_ error: any Error) {
        switch error {
        case let error as WebhookFailure: self = error
        case let error as TLSError:
            // The reason of the error may name the host.
            let kind = error.kind == .certificateRefused ? "the server's certificate is refused" : "TLS failed"
            self.init(words: error.refusal.map { "\(kind): \($0.words)" } ?? kind, mayPass: error.isTransient)
        case OutgoingExchange.Failure.late: self.init(words: "the server took too long", mayPass: true)
        case OutgoingExchange.Failure.cut:
            self.init(words: "the connection broke off before an answer", mayPass: true)
        case OutgoingExchange.Failure.notHTTP: self.init(words: "the server does not speak HTTP", mayPass: false)
        case is NIOConnectionError, is IOError, is ChannelError, is SocketAddressError:
            self.init(words: "the server cannot be reached", mayPass: true)
        default: self.init(words: "the request failed", mayPass: true)
        }
    }
}
