import Feeds
import HTTP
import NIOCore
import NIOPosix
import TLS
import Wire

/// The relay of a running program, as this program's commands ask it over HTTP.
struct RunningRelay: Sendable {
    let address: UpstreamAddress
    private let client: ServiceClient

    /// - Parameter limit: the time limit of a request.
    /// - Throws: ``OperatorError`` when the proxy or the trust roots cannot be used.
    init(_ address: UpstreamAddress, _ settings: Settings, within limit: TimeAmount) throws(OperatorError) {
        var service = ServiceSettings(address: UpstreamAddress(asking: address), key: settings.relayToken)
        service.isRelay = true
        let isHere = address.socketPath != nil || LoopbackHost.contains(address.host)
        service.dial = isHere ? settings.dial.toOwnRelay : try settings.dial(to: address)
        service.dial.dnsTimeout = min(service.dial.dnsTimeout, limit)
        service.dial.tcpTimeout = min(service.dial.tcpTimeout, limit)
        service.dial.tls.handshakeTimeout = min(service.dial.tls.handshakeTimeout, limit)
        service.timeout = limit
        self.address = address
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
        await self.client.get(path, query: query).flatMap { body in
            JSONTree(body).map { .success($0) }
                ?? .failure(ServiceFailure(.unreadableAnswer, "the answer of \(self.address) is not JSON"))
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
