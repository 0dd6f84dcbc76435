import HTTP
import NIOCore

// The listening socket of plain lines.
extension RelayServer {
    /// Listens for lines, by the rules of the relay's own address.
    func bindLines(at place: Endpoint, listener: NIOLoopBound<RelayListener>) async throws -> any Channel {
        do {
            let address = try ListeningAddress.resolve(
                host: place.host,
                port: place.port,
                hasToken: self.settings.token != nil
            )
            let channel = try await RelayListener.bind(
                self.settings,
                address: address,
                on: self.eventLoop,
                listener: listener,
                logger: self.logger,
                speaksLines: true
            )
            self.logger.info("The relay listens for lines", metadata: ["address": "\(place)"])
            return channel
        } catch RelayError.needsToken(let host) {
            throw RelayError.linesNeedToken(host: host)
        } catch RelayError.cannotListen(_, _, let reason) {
            throw RelayError.cannotListenForLines(place, reason: reason)
        } catch {
            throw RelayError.cannotListenForLines(place, reason: Self.reason(for: error))
        }
    }
}
