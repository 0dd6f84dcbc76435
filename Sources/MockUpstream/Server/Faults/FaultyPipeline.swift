package import HTTP
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
    /// Answers what asks for no WebSocket; without it such requests are refused.
    private let answer: (@Sendable (HTTPRequestHead) -> HTTPAnswer)?

    package init(
        tls: TLSContext?,
        webSocket: WebSocketSettings = WebSocketSettings(role: .server),
        answer: (@Sendable (HTTPRequestHead) -> HTTPAnswer)? = nil
    ) {
        self.tls = tls
        self.webSocket = webSocket
        self.answer = answer
    }

    /// Puts the handlers into an accepted channel; to be called on its loop.
    ///
    /// - Parameters:
    ///   - told: hears of the faults that happen at a moment.
    ///   - refusal: why a request for a WebSocket that no fault refuses is refused all the same, or `nil`.
    ///   - upgraded: adds the application's handler, once the WebSocket is open.
    /// - Returns: the line, by which the connection can be ended at any time.
    package func configure(
        _ channel: any Channel,
        faults: ConnectionFaults,
        reported: @escaping @Sendable (ConnectionFaults.Event) -> Void = { _ in },
        refusal: @escaping (HTTPRequestHead) -> HTTPAnswer?,
        upgraded: @escaping (any Channel, HTTPRequestHead, FaultyLine) throws -> Void
    ) throws -> FaultyLine {
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
                return line
            }
        }
        if let tls { try pipeline.addHandler(TLSHandler(context: tls, peer: nil)) }
        if let early, !early.isBelowTLS {
            try pipeline.addHandler(early)
            return line
        }
        let isAlwaysFaulty = self.isAlwaysFaulty
        var planned: HTTPAnswer?
        if case .refuse(let refusal) = faults.opening { planned = HTTPAnswer(refusal) }
        let service = MockService(
            webSocket: self.webSocket,
            answer: self.answer.map { answer in { head in planned ?? answer(head) } },
            refusal: { head in planned ?? refusal(head) },
            opened: { channel, head, _ in
                if isAlwaysFaulty || !faults.isQuiet {
                    try channel.pipeline.syncOperations.addHandler(FaultHandler(faults, line: line, reported: reported))
                }
                try upgraded(channel, head, line)
            }
        )
        try HTTPServerConnection.addHandlers(to: pipeline, service)
        return line
    }
}

extension HTTPAnswer {
    fileprivate init(_ refusal: Fault.Refusal) {
        var headers = HTTPHeaders()
        // A value that would end its line early is left out.
        for header in refusal.headers where HTTPHeadParser.isFieldValue(header.value.utf8) {
            headers.add(name: header.name, value: header.value)
        }
        if !headers.contains(name: "Content-Type"), refusal.body.hasPrefix("{") {
            headers.add(name: "Content-Type", value: "application/json")
        }
        self = .text(HTTPResponseStatus(statusCode: refusal.status), refusal.body, headers: headers)
    }
}
