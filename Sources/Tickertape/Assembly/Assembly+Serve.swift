import Feeds
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals
import TLS

extension Assembly {
    /// Serves a recording to other programs until it is stopped.
    package static func serve(_ order: ServeOrder, _ settings: Settings) async throws {
        EarlyStop.take()
        let recording = try OperatorError.opening(recording: order.recording)
        let logger = ProgramLog.make(level: settings.logLevel)
        let authority = try CertificateAuthority(name: "tickertape stand-in")
        var standInSettings = StandInSettings()
        standInSettings.speed = order.speed.factor
        standInSettings.rebasesTimes = order.movesTimes
        standInSettings.keepaliveInterval = .seconds(20)
        standInSettings.faults = order.faults
        standInSettings.oneConnectionPerKey = order.oneConnectionPerKey
        standInSettings.symbolLimit = order.symbolLimit
        standInSettings.connectionLimit = order.connectionLimit
        standInSettings.faultHappened = { connection, fault in
            Console.complain("connection \(connection): \(fault)")
        }
        if order.isEncrypted {
            standInSettings.credentials = try authority.issue(for: order.listen.host)
            if let path = order.authorityOut { try NewFile.write(authority.certificatePEM, to: path) }
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let standIn: StandIn
        do {
            standIn = try await StandIn.start(
                recording: recording,
                settings: standInSettings,
                on: group.next(),
                host: order.listen.host,
                port: order.listen.port,
                logger: logger,
                wallClock: WallClock.now
            )
        } catch {
            throw OperatorError(
                "cannot listen on \(order.listen): \(PlainWords.of(error)); choose another --listen HOST:PORT",
                status: .addressInUse
            )
        }
        let port = standIn.address?.port ?? order.listen.port
        let address = "\(order.isEncrypted ? "wss" : "ws")://\(Endpoint(host: order.listen.host, port: port))"
        Console.complain("serving \(order.recording) as Finnhub on \(address)/?token=anything; Ctrl-C stops")
        if order.isEncrypted {
            Console.complain(
                order.authorityOut.map { "the authority to trust is in \($0)" }
                    ?? "--ca-out FILE writes the authority that clients must trust"
            )
        }
        try await TickerProgram.live([
            ProgramPart("stand-in") {
                try? await gracefulShutdown()
                await standIn.stop()
            }
        ])
        await group.end()
    }
}
