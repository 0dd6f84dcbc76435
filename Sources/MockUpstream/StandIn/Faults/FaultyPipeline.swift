package import NIOCore
package import NIOHTTP1
package import TLS
package import WebSocket

/// The way from an accepted socket to an open WebSocket on a stand-in's side, with one connection's faults on it.
package struct FaultyPipeline: Sendable {
    /// `nil` serves plain WebSocket; then there is no TLS to hang in.
    package var tls: TLSContext?
    package var webSocket: WebSocketSettings
    /// Whether a ``FaultHandler`` stands on an open WebSocket even where nothing is planned.
    package var isAlwaysFaulty = false
    /// Takes over connections that ask for no WebSocket, with what a fault answers them; without it they are refused.
    private let otherwise: (@Sendable (any Channel, Fault.Refusal?) throws -> Void)?

    package init(
        tls: TLSContext?,
        webSocket: WebSocketSettings = WebSocketSettings(role: .server),
        otherwise: (@Sendable (any Channel, Fault.Refusal?) throws -> Void)? = nil
    ) {
        self.tls = tls
        self.webSocket = webSocket
        self.otherwise = otherwise
    }

    /// Puts the handlers into an accepted channel; to be called on its loop.
    ///
    /// - Parameters:
    ///   - told: hears of the faults that happen at a moment.
    ///   - decide: judges the request where no fault refuses it.
    ///   - upgraded: adds the application's handler, once the WebSocket is open.
    /// - Returns: the line, by which the connection can be ended at any time, and when everything is in its place.
    package func configure(
        _ channel: any Channel,
        faults: ConnectionFaults,
        told: @escaping @Sendable (ConnectionFaults.Event) -> Void = { _ in },
        decide: @escaping @Sendable (HTTPRequestHead) -> WebSocketServerDecision,
        upgraded: @escaping @Sendable (any Channel, HTTPRequestHead, NIOLoopBound<FaultyLine>) throws -> Void
    ) throws -> (line: FaultyLine, configured: EventLoopFuture<Void>) {
        let line = FaultyLine(faults)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(line)
        var early: OpeningFaultHandler?
        switch faults.opening {
        case .hang(let stage): early = OpeningFaultHandler(stage: stage, outcome: .hang, line: line)
        case .cut(let stage, let isReset):
            early = OpeningFaultHandler(stage: stage, outcome: isReset ? .reset : .drop, line: line)
        case .normal, .refuse: break
        }
        if let early, early.isBelowTLS {
            // Without TLS there is no handshake to be stuck in, and the connection is a good one.
            if self.tls != nil || early.stage == .tcp {
                try pipeline.addHandler(early)
                return (line, channel.eventLoop.makeSucceededVoidFuture())
            }
        }
        if let tls { try pipeline.addHandler(TLSHandler(context: tls, peer: nil)) }
        if let early, !early.isBelowTLS {
            try pipeline.addHandler(early)
            return (line, channel.eventLoop.makeSucceededVoidFuture())
        }
        let shared = NIOLoopBound(line, eventLoop: channel.eventLoop)
        let isAlwaysFaulty = self.isAlwaysFaulty
        var otherwise: (@Sendable (any Channel) throws -> Void)?
        if let takeOver = self.otherwise {
            otherwise = { channel in
                guard case .refuse(let refusal) = faults.opening else { return try takeOver(channel, nil) }
                try takeOver(channel, refusal)
            }
        }
        let configured = channel.configureWebSocketServer(
            settings: self.webSocket,
            limits: WebSocketServerLimits(handshakeTimeout: .seconds(10)),
            decide: { head in
                guard case .refuse(let refusal) = faults.opening else { return decide(head) }
                return refusal.decision
            },
            upgraded: { channel, head in
                if isAlwaysFaulty || !faults.isQuiet {
                    let handler = FaultHandler(faults, line: shared.value, told: told)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
                try upgraded(channel, head, shared)
            },
            otherwise: otherwise
        )
        return (line, configured)
    }
}

extension Fault.Refusal {
    fileprivate var decision: WebSocketServerDecision {
        var headers = HTTPHeaders()
        for header in self.headers { headers.add(name: header.name, value: header.value) }
        if !headers.contains(name: "Content-Type"), self.body.hasPrefix("{") {
            headers.add(name: "Content-Type", value: "application/json")
        }
        return .refuse(HTTPResponseStatus(statusCode: self.status), headers: headers, body: self.body)
    }
}
