import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import WebSocket

extension UpstreamFailure {
    /// Explains why no address was found.
    init(naming error: any Error, on route: Route) {
        let name = route.proxy == nil ? "the name \(route.host)" : "the proxy's name \(route.host)"
        switch error as? NameFailure {
        case .unknown:
            self.init("\(name) is unknown: check the network and \(route.hint)")
        case .noServer:
            self.init("\(name) was not resolved, because no name server answers: is the network up?")
        case .late(let limit):
            self.init("\(name) was not resolved within \(limit.words): is the network up?")
        case .failed(let words):
            self.init("\(name) was not resolved: \(words)")
        case nil:
            self.init("\(name) was not resolved: \(error)")
        }
        self.cause = .name
    }

    /// Explains why no TCP connection was established.
    ///
    /// - Parameters:
    ///   - addresses: the addresses that were tried.
    ///   - limit: the time for all of them together.
    init(connecting error: any Error, on route: Route, addresses: [SocketAddress], within limit: TimeAmount) {
        let named = addresses.contains { $0.ipAddress != route.host }
        switch error {
        case ChannelError.connectTimeout:
            let tried = named ? " (\(Self.list(addresses.map { $0.ipAddress ?? "?" })))" : ""
            self.init("no answer from \(route.place)\(tried) within \(limit.words): is the network up?")
        case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
            let failures = error.connectionErrors
            let isRefused = failures.allSatisfy { ($0.error as? IOError)?.errnoCode == ECONNREFUSED }
            if isRefused {
                let tried = named ? " (\(Self.list(failures.map { $0.target.ipAddress ?? "?" })))" : ""
                let hint = route.proxy == nil ? "is the service running there?" : "check \(route.hint)"
                self.init("\(route.place)\(tried) refuses connections: \(hint)")
            } else if named {
                let each = failures.map { "\($0.target.ipAddress ?? "?"): \(Self.words(of: $0.error))" }
                self.init("cannot connect to \(route.place) (\(Self.list(each)))")
            } else {
                self.init("cannot connect to \(route.place): \(Self.words(of: failures[0].error))")
            }
        default:
            self.init("cannot connect to \(route.place): \(Self.words(of: error))")
        }
        self.cause = route.proxy == nil ? .connect : .proxy
    }

    /// Joins the first four items, so that the text stays short.
    private static func list(_ items: [String]) -> String {
        let shown = items.prefix(4).joined(separator: ", ")
        return items.count > 4 ? "\(shown) and \(items.count - 4) more" : shown
    }

    /// Explains why a proxy opened no tunnel.
    ///
    /// The failure never concerns the key, which has not been sent yet.
    init(tunnel error: WebSocketUpgradeError, on route: Route, within limit: TimeAmount, now: Int64) {
        let target = "\(route.address.host) port \(route.address.port)"
        switch error {
        case .refused(let status, let headers, let body):
            self.init(proxyStatus: status, headers: headers, body: body, route: route, target: target)
            self.retryAfter = RetryAfter.parse(headers, now: now)
        case .timedOut:
            self.init("\(route.place) did not connect to \(target) within \(limit.words): no answer came")
        case .unfinished:
            self.init(
                "\(route.place) did not connect to \(target) within \(limit.words): its answer began and did not end"
            )
        case .invalidResponse(let reason):
            self.init("the answer of \(route.place) is not that of an HTTP proxy: \(reason)")
        case .headersTooLarge:
            self.init("the header of the answer of \(route.place) is too large")
        case .connectionClosed:
            self.init("\(route.place) closed the connection without an answer")
        case .invalidRequest(let part):
            self.init("the \(part) for \(route.place) cannot be sent: check \(route.hint)")
        }
        self.cause = .proxy
    }

    private init(
        proxyStatus status: HTTPResponseStatus,
        headers: HTTPHeaders,
        body: String,
        route: Route,
        target: String
    ) {
        let words = AnswerText.line(of: body)
        let answer = "HTTP \(status.code)" + (words.isEmpty ? "" : ": \(words)")
        switch status.code {
        case 407:
            let schemes = headers["Proxy-Authenticate"].compactMap { $0.split(separator: " ").first?.lowercased() }
            if !schemes.isEmpty, !schemes.contains("basic") {
                let asked = AnswerText.line(of: schemes.joined(separator: ", "))
                self.init("\(route.place) asks for a login (\(asked)) that this program does not speak (HTTP 407)")
            } else if route.proxy?.credentials == nil {
                self.init(
                    "\(route.place) asks for a user and password (HTTP 407): put them into \(route.hint), as "
                        + "http://USER:PASSWORD@HOST:PORT"
                )
            } else {
                self.init("\(route.place) does not accept the user and password of \(route.hint) (HTTP 407)")
            }
        case 401, 403, 451:
            self.init("\(route.place) does not allow connections to \(target) (\(answer))")
        case 400, 404, 405, 426, 501:
            self.init("\(route.place) does not pass connections on (\(answer)): is it an HTTP proxy?")
        case 500..<600:
            self.init("\(route.place) cannot connect to \(target) (\(answer))")
        case 300..<400:
            let host = AnswerText.redirection(headers).map { " to \($0)" } ?? ""
            self.init("\(route.place) redirects\(host) instead of connecting (HTTP \(status.code)): is a login needed?")
        default:
            self.init("\(route.place) did not connect to \(target) (\(answer))")
        }
    }
}
