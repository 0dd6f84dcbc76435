import HTTP
import NIOCore
import NIOHTTP1
import Wire

extension ServiceFailure {
    /// The pause after a refusal for too many calls that states no wait, ns. Finnhub counts calls by the minute.
    private static let usualPause: Int64 = 60_000_000_000
    /// The number of bytes of a body that are searched for an error text.
    private static let readBytes = 4_096
    private static let checkAddress = "check service.url"

    /// Explains an answer whose status is not 200.
    ///
    /// - Parameter now: nanoseconds since 1970.
    init(_ answer: OutgoingExchange.Answer, now: Int64) {
        let (status, headers) = (answer.head.status, answer.head.headers)
        let text = Self.beginning(of: answer.body)
        let words = Self.words(of: text)
        let said = "HTTP \(status.code)" + (words.isEmpty ? "" : ": \(words)")
        let wait = Self.wait(headers, now: now)
        if let edge = UpstreamFailure.edge(status: status.code, headers: headers, body: text) {
            let reason = "the edge in front of the service \(edge)"
            if status.code == 429 {
                self = .rateLimited(until: now + wait, reason)
            } else {
                self.init(.unreachable, reason, cure: "try again later or from another network")
            }
            return
        }
        switch status.code {
        case 401:
            self.init(
                .keyRejected,
                "the service does not accept the key (\(said))",
                cure: "check FINNHUB_TOKEN, --token-file or `token` in the config"
            )
        case 403:
            self.init(
                .notPermitted,
                "the key's plan does not have this (\(said))",
                cure: "finnhub.io/pricing says which does"
            )
        case 429 where words.contains("sign up"):
            self = .noKey
        case 429:
            self = .rateLimited(until: now + wait, "the limit of calls is reached (\(said))")
        case 300..<400:
            let place = AnswerText.redirection(headers).map { " to \($0)" } ?? ""
            self.init(
                .unreadableAnswer,
                "the service redirects\(place) (HTTP \(status.code)), which is not followed",
                cure: Self.checkAddress
            )
        case 404, 410:
            self.init(.unreadableAnswer, "the service has nothing at this path (\(said))", cure: Self.checkAddress)
        case 500..<600:
            self.init(.unreachable, "the service is down (\(said))", cure: "try again later")
        default:
            self.init(.unreadableAnswer, "the service refuses the request (\(said))", cure: Self.checkAddress)
        }
    }

    /// Explains a body that is not JSON, or not of the expected shape.
    ///
    /// - Parameters:
    ///   - what: the expected content: `a list of symbols`.
    ///   - address: the setting of the service's address.
    init(notWhat what: String, body: ByteBuffer, address: String = "service.url") {
        let words = Self.words(of: Self.beginning(of: body))
        let instead = words.isEmpty ? "nothing" : words
        self.init(
            .unreadableAnswer,
            "the answer is not \(what) but \(instead)",
            cure: "is \(address) right, or does a network's login page stand in between?"
        )
    }

    /// Explains a connection without a usable answer.
    init(_ failure: OutgoingExchange.Failure, _ settings: ServiceSettings) {
        switch failure {
        case .late(let hasBegun):
            let what = hasBegun ? "the answer began and did not end" : "no answer came"
            self.init(.unreachable, "\(what) within \(settings.timeout.words)", cure: "try again later")
        case .cut:
            self.init(.unreachable, "the connection was lost before the answer was whole", cure: "try again")
        case .notHTTP(let error):
            self.init(.unreadableAnswer, "the answer is not valid HTTP (\(error))", cure: Self.checkAddress)
        case .tooLarge:
            self.init(
                .unreadableAnswer,
                "the answer has more than \(settings.maximumBytes >> 20) MiB, too large for a list",
                cure: Self.checkAddress
            )
        case .compressed:
            self.init(
                .unreadableAnswer,
                "the answer is compressed although this was not requested",
                cure: Self.checkAddress
            )
        }
    }

    /// Explains a failure of the connection.
    init(_ failure: UpstreamFailure) {
        // The text was written for the WebSocket's address, which is another setting.
        self.init(.unreachable, failure.description.replacing("the upstream address", with: "service.url"))
    }

    /// The wait that an answer asks for, ns: `Retry-After`, or the time at which the count restarts, or a minute.
    static func wait(_ headers: HTTPHeaders, now: Int64) -> Int64 {
        if let wait = RetryAfter.parse(headers, now: now) { return wait }
        if let text = headers.first(name: "X-Ratelimit-Reset"), let reset = Int64(text) {
            let wait = reset.subtractingReportingOverflow(now / 1_000_000_000)
            if !wait.overflow, (1...86_400).contains(wait.partialValue) { return wait.partialValue * 1_000_000_000 }
        }
        return Self.usualPause
    }

    static func beginning(of body: ByteBuffer) -> String {
        String(buffer: body.getSlice(at: body.readerIndex, length: min(body.readableBytes, Self.readBytes)) ?? body)
    }

    /// The error text of a body: Finnhub's own, or the first line of any other.
    static func words(of body: String) -> String {
        var copy = body
        let error = copy.withUTF8 { bytes -> String? in
            var reader = JSONReader(UnsafeRawBufferPointer(bytes))
            guard reader.take(UInt8(ascii: "{")) else { return nil }
            var isFirst = true
            while case .key(let key) = reader.nextMember(isFirst: &isFirst) {
                if key.equals("error"), reader.kind() == .string { return reader.string()?.text }
                guard reader.skipValue() else { return nil }
            }
            return nil
        }
        return AnswerText.line(of: error ?? body)
    }
}
