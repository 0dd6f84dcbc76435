import Feeds
import HTTP
import NIOCore
import NIOPosix
import TLS
import Wire

/// The relay of a running program, as this program's commands ask it over HTTP.
struct RunningRelay: Sendable {
    let address: UpstreamAddress
    /// Whether the relay is on this machine.
    let isHere: Bool
    private let client: ServiceClient
    private let hasToken: Bool

    /// - Parameter limit: the time limit of a request.
    /// - Throws: ``OperatorError`` when the proxy or the trust roots cannot be used.
    init(_ address: UpstreamAddress, _ settings: Settings, within limit: TimeAmount) throws(OperatorError) {
        var service = ServiceSettings(address: UpstreamAddress(asking: address), key: settings.relayToken)
        service.isRelay = true
        self.isHere = address.socketPath != nil || LoopbackHost.contains(address.host)
        let dial = self.isHere ? settings.dial.toOwnRelay : try settings.dial(to: address)
        service.dial = dial.limited(to: limit)
        service.timeout = limit
        self.address = address
        self.hasToken = settings.relayToken != nil
        do throws(TLSError) {
            self.client = try ServiceClient(
                service,
                on: MultiThreadedEventLoopGroup.singleton,
                wallClock: WallClock.now
            )
        } catch {
            throw OperatorError("\(error) (tls.ca-file, --ca-file)", status: .configuration)
        }
    }

    /// Requests a path, and returns the JSON of an answer with status 200.
    func ask(_ path: String, query: [(String, String)] = []) async -> Result<JSONTree, ServiceFailure> {
        await self.client.get(path, query: query).mapError(self.ofRelay).flatMap { body in
            JSONTree(body).map { .success($0) }
                ?? .failure(ServiceFailure(.unreadableAnswer, "the answer of \(self.address) is not JSON"))
        }
    }

    /// Returns a failure in words about a relay; those of the client are about Finnhub's REST service.
    private func ofRelay(_ failure: ServiceFailure) -> ServiceFailure {
        guard let status = failure.status else { return failure }
        var failure = failure
        switch status {
        case 401:
            failure.reason =
                self.hasToken ? "it does not accept this token (HTTP 401)" : "it requires a token (HTTP 401)"
            failure.cure = "set relay.token-file as the relay has it"
        case 403:
            failure.reason = "the relay shows this only where no other machine can reach it (HTTP 403)"
            failure.cure = nil
        case 400:
            failure.reason = "it does not answer as a relay does (HTTP 400)"
            failure.cure = "if it speaks TLS, write wss:// or set relay.certificate-file here, too"
        default:
            failure.reason = "it does not answer as a relay does (HTTP \(status))"
            failure.cure = nil
        }
        return failure
    }

    /// Requests the settings in force. A relay shows them only where no other machine can reach it.
    func settings() async -> Result<[RunningSetting], ServiceFailure> {
        await self.ask("/v1/settings").flatMap { answer in
            let settings = RunningSetting.list(answer)
            guard !settings.isEmpty else {
                return .failure(ServiceFailure(.unreadableAnswer, "it does not answer as a relay does"))
            }
            return .success(settings)
        }
    }

    /// Requests a path, and returns the text of an answer with status 200.
    func text(_ path: String) async -> String? {
        try? await self.client.get(path).map { String(buffer: $0) }.get()
    }
}

extension UpstreamAddress {
    /// The base address of the HTTP API beside a relay's WebSockets.
    fileprivate init(asking address: UpstreamAddress) {
        if let path = address.socketPath {
            self.init(socketPath: path)
        } else {
            self.init(isEncrypted: address.isEncrypted, host: address.host, port: address.port)
        }
    }
}
