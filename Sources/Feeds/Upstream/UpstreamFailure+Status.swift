package import NIOHTTP1

extension UpstreamFailure {
    /// Explains an answer other than 101, as Finnhub and the edge in front of it are known to send them.
    ///
    /// - Parameter now: nanoseconds since 1970, for a `Retry-After` with a date.
    package init(status: HTTPResponseStatus, headers: HTTPHeaders, body: String, now: Int64) {
        let retryAfter = RetryAfter.parse(headers, now: now)
        if let edge = Self.edge(status: status.code, headers: headers, body: body) {
            self.init("the edge in front of the service \(edge)")
            self.cause = status.code == 429 ? .rateLimited : .refusedStatus
            if status.code == 429 { self.disposition = .rateLimited(retryAfter: retryAfter) }
        } else {
            self.init(service: status.code, headers: headers, body: body, retryAfter: retryAfter)
            self.cause =
                switch status.code {
                case 401 where body.contains(#""type":"token-"#): .relay
                case 401, 403: .keyRejected
                case 429: .rateLimited
                default: .refusedStatus
                }
        }
        self.retryAfter = retryAfter
    }

    /// Explains an answer of the service itself.
    private init(service code: UInt, headers: HTTPHeaders, body: String, retryAfter: Int64?) {
        let words = AnswerText.line(of: body)
        let answer = "HTTP \(code)" + (words.isEmpty ? "" : ": \(words)")
        switch code {
        // The answer of a relay like ours (docs/security.md), which checks tokens and no keys.
        case 401 where body.contains(#""type":"token-wrong""#):
            self.init("the relay does not accept this token (HTTP 401): set relay.token-file as for the relay")
        case 401 where body.contains(#""type":"token-"#):
            self.init("the relay requires its token (HTTP 401): set relay.token-file as for the relay")
        case 401, 403:
            self.init(
                "the key was rejected (\(answer)): check FINNHUB_TOKEN, --token-file or `token` in the config",
                disposition: .keyRejected
            )
        case 429:
            // Finnhub also answers 429 to an empty key; the body then mentions signing up.
            let hint = words.contains("sign up") ? "is the key set?" : "is the key in use elsewhere?"
            self.init("too many connections (\(answer)); \(hint)", disposition: .rateLimited(retryAfter: retryAfter))
        case 200..<300:
            self.init(
                "the service answered HTTP \(code) instead of opening a WebSocket" + (words.isEmpty ? "" : ": \(words)")
            )
        case 300..<400:
            let place = AnswerText.redirection(headers).map { " to \($0)" } ?? ""
            self.init("the service redirects\(place) (HTTP \(code)), which is not followed: check the upstream address")
        case 400:
            self.init("the service does not understand the request (\(answer))")
        case 404, 410:
            self.init("the service has nothing at this path (\(answer)): check the upstream address")
            self.isOfUnknownPath = true
        case 426:
            self.init("the service requires another protocol (\(answer)): check the upstream address")
        case 503 where retryAfter != nil:
            self.init("the service is overloaded or under repair (\(answer))")
        case 500..<600:
            self.init("the service is down (\(answer))")
        default:
            self.init("the service refused the connection (\(answer))")
        }
    }

    /// Returns what Cloudflare answered by itself, as the end of a sentence; `nil` if the service answered.
    ///
    /// Cloudflare never judges the key, so the attempts continue after its 403.
    static func edge(status: UInt, headers: HTTPHeaders, body: String) -> String? {
        if let code = AnswerText.edgeError(in: body) {
            let meaning =
                switch code {
                case 1_006, 1_007, 1_008, 1_106: "has banned this machine's address"
                case 1_009: "refuses this machine's country"
                case 1_010, 1_020: "refuses this program by one of its rules"
                case 1_015: "has had too many connections from this machine"
                default: "refuses the connection"
                }
            return "\(meaning) (HTTP \(status), Cloudflare error \(code))"
        }
        if headers.first(name: "cf-mitigated")?.lowercased() == "challenge" {
            return "requires a browser (HTTP \(status), a Cloudflare challenge)"
        }
        let meaning =
            switch status {
            case 520: "got a broken answer from it"
            case 521: "is refused by it"
            case 522: "cannot connect to it in time"
            case 523: "has no way to it"
            case 524: "got no answer from it in time"
            case 525, 526: "cannot agree with it on TLS"
            case 530: "does not find it"
            default: ""
            }
        return meaning.isEmpty ? nil : "\(meaning) (HTTP \(status)): the service is down"
    }
}
