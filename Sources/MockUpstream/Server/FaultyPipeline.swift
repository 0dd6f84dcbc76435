package import HTTP
package import NIOCore
package import NIOHTTP1
package import TLS
package import WebSocket

/// The set-up of a mock server's connection from an accepted socket to an open WebSocket, with the connection's faults.
package struct FaultyPipeline: Sendable {
    /// The TLS context; `nil` serves plain WebSocket, without a TLS handshake that could hang.
    package var tls: TLSContext?
    package var webSocket: WebSocketSettings
    /// Whether an open WebSocket gets a ``FaultHandler`` even without a planned fault.
    package var isAlwaysFaulty = false
    /// Returns ns since 1970, for the times in what faults send.
    package var wallClock: @Sendable () -> Int64 = { 0 }
    /// Returns the protocol of a request.
    package var upstream: @Sendable (HTTPRequestHead) -> any MockProtocol = { _ in FinnhubMock() }

    package init(tls: TLSContext?, webSocket: WebSocketSettings = WebSocketSettings(role: .server)) {
        self.tls = tls
        self.webSocket = webSocket
    }

    /// Adds the handlers to an accepted channel; called on its loop.
    ///
    /// - Parameters:
    ///   - reported: called with each event when it happens.
    ///   - answer: answers requests for something other than a WebSocket; without it they are refused.
    ///   - refusal: returns the refusal of a request for a WebSocket that no fault refuses, or `nil`.
    ///   - upgraded: adds the application's handler once the WebSocket is open.
    /// - Returns: the line, through which the connection can be ended at any time.
    package func configure(
        _ channel: any Channel,
        faults: ConnectionFaults,
        reported: @escaping @Sendable (ConnectionFaults.Event) -> Void = { _ in },
        answer: ((HTTPRequestHead) -> MockAnswer)? = nil,
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
            // Without TLS there is no handshake to hang in, so the connection opens normally.
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
        let (upstream, wallClock) = (self.upstream, self.wallClock)
        func planned(_ head: HTTPRequestHead) -> HTTPAnswer? {
            guard case .refuse(let refusal) = faults.opening else { return nil }
            return HTTPAnswer(refusal, of: upstream(head))
        }
        let service = MockService(
            webSocket: self.webSocket,
            adjust: { head, settings in upstream(head).adjust(&settings) },
            answer: answer.map { answer in { head in planned(head).map(MockAnswer.init) ?? answer(head) } },
            cut: { line.drop() },
            refusal: { head in planned(head) ?? refusal(head) },
            opened: { channel, head, _ in
                if isAlwaysFaulty || !faults.isQuiet {
                    let handler = FaultHandler(
                        faults,
                        of: upstream(head),
                        line: line,
                        wallClock: wallClock,
                        reported: reported
                    )
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
                try upgraded(channel, head, line)
            }
        )
        try HTTPServerConnection.addHandlers(to: pipeline, service)
        return line
    }
}

extension HTTPAnswer {
    init(_ refusal: Fault.Refusal, of upstream: any MockProtocol) {
        var headers = HTTPHeaders()
        // A value with a line end is left out.
        for header in refusal.headers where HTTPHeadParser.isFieldValue(header.value.utf8) {
            headers.add(name: header.name, value: header.value)
        }
        let body = refusal.body ?? upstream.body(of: refusal.status)
        if !headers.contains(name: "Content-Type"), body.hasPrefix("{") {
            headers.add(name: "Content-Type", value: "application/json")
        }
        self = .text(HTTPResponseStatus(statusCode: refusal.status), body, headers: headers)
    }
}
