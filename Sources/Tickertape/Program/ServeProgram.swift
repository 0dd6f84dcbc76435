import Feeds
import Logging
import MockUpstream
import NIOCore
import NIOPosix
import Recordings
import HTTP
import ServiceLifecycle
import TLS
import Wire

/// A mock server of the service that clients connect to until the program is stopped.
struct ServeProgram {
    /// The name of the recording or the market, for people.
    let name: String
    let material: ReplayMaterial
    /// The settings of the mock server, without its certificate.
    let settings: MockServerSettings
    let listen: Endpoint
    /// Whether the server uses TLS, with a certificate of an authority made for this run.
    let isEncrypted: Bool
    /// The file for the authority's certificate; without one it goes to standard output.
    let authorityOut: String?
    let logger: Logger

    /// Serves until the program is stopped.
    func run() async throws {
        let authority = try CertificateAuthority(name: "tickertape stand-in")
        var settings = self.settings
        if self.isEncrypted {
            settings.credentials = try authority.issue(for: self.listen.host)
            if let path = self.authorityOut { try NewFile.write(authority.certificatePEM, to: path) }
        }
        Console.queueErrors()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let mockServer = try await self.start(settings, on: group.next())
        await self.announce(port: mockServer.address?.port ?? self.listen.port, authority: authority)
        let service = NamedService("stand-in") {
            try? await gracefulShutdown()
            await mockServer.stop()
        }
        let played = PlayedMaterial(self.material, mockServer: mockServer)
        let watch = played.diskWatch { Console.printError("warning: \($0)") }
        try await NamedService.run([watch?.part, service].compactMap { $0 })
        await group.end()
        if case .recording(let recording) = self.material { RecordedDamage.printError(of: recording) }
    }

    private func start(_ settings: MockServerSettings, on loop: any EventLoop) async throws -> MockServer {
        do {
            return try await MockServer.start(
                self.material,
                settings: settings,
                on: loop,
                host: self.listen.host,
                port: self.listen.port,
                logger: self.logger,
                wallClock: WallClock.now
            )
        } catch let error where error is TLSError || error is RecordingFailure {
            throw OperatorError("\(error)", status: .failure)
        } catch {
            throw OperatorError(
                "cannot listen on \(self.listen): \(SystemErrorText.of(error)); choose another --listen HOST:PORT",
                status: .addressInUse
            )
        }
    }

    /// Prints the address, and the authority that clients must trust.
    private func announce(port: Int, authority: CertificateAuthority) async {
        let address = "\(self.isEncrypted ? "wss" : "ws")://\(Endpoint(host: self.listen.host, port: port))"
        let venues = Venue.allCases.filter { self.material.dialects.contains($0.dialect) }
        var services = venues.map { "\($0.name) on \(address)\($0.upstream.path)" }
        if venues.isEmpty || self.material.dialects.contains(.finnhub) {
            services.insert("Finnhub on \(address)/?token=anything", at: 0)
        }
        Console.printError("serving \(self.name) as \(services.joined(separator: ", ")); Ctrl-C stops")
        guard self.isEncrypted else { return }
        if let path = self.authorityOut {
            Console.printError("the authority to trust is in \(path)")
        } else {
            // Both streams may go to one file; its lines are then in order.
            await Console.flushErrors()
            // On standard output, so that a shell can store it in a file or a variable.
            for line in authority.certificatePEM.split(separator: "\n") { Console.print(String(line)) }
            Console.printError("clients must trust the authority above; --ca-out FILE writes it to a file")
        }
    }
}
