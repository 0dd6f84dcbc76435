import Relay
import NIOCore
import NIOPosix
import TLS

/// The same question as ``HealthProbe``'s to a relay that speaks TLS.
///
/// The certificate is not checked: it may be for other names than the loopback, and nothing but `GET /livez` is sent.
struct EncryptedHealthProbe {
    let endpoint: Endpoint
    /// The ciphers of TLS 1.2: those of the relay that is asked.
    let ciphers: TLSCipherList
    /// How long everything may take together, in milliseconds.
    let limit: Int64

    /// The status line of a good answer; anything else is thrown.
    func statusLine() async throws(HealthProbe.Failure) -> String {
        let line: String
        do {
            line = try await self.ask()
        } catch let failure as HealthProbe.Failure {
            throw failure
        } catch {
            throw HealthProbe.Failure(reason: "cannot be asked: \(PlainWords.of(error))")
        }
        guard line.hasPrefix("HTTP/1.1 200") else {
            throw HealthProbe.Failure(reason: "does not answer as a relay does: \"\(line.prefix(80))\"")
        }
        return line
    }

    private func ask() async throws -> String {
        var configuration = TLSClientConfiguration()
        configuration.verification = .disabled
        configuration.ciphers = self.ciphers
        configuration.handshakeTimeout = .milliseconds(self.limit)
        let context = try TLSContext(client: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = loop.makePromise(of: String.self)
        let request = ByteBuffer(string: "GET /livez HTTP/1.1\r\nHost: \(self.endpoint)\r\nConnection: close\r\n\r\n")
        let timer = loop.scheduleTask(in: .milliseconds(self.limit)) {
            answer.fail(HealthProbe.Failure(reason: "does not answer in time"))
        }
        let opening = ClientBootstrap(group: loop)
            .connectTimeout(.milliseconds(self.limit))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        TLSHandler(context: context, peer: nil), AnswerLine(answer),
                    ])
                }
            }
            .connect(host: self.endpoint.host, port: self.endpoint.port)
        opening.whenSuccess { $0.writeAndFlush(request, promise: nil) }
        opening.whenFailure { answer.fail($0) }
        defer { timer.cancel() }
        return try await answer.futureResult.get()
    }
}

/// The wait for the first line of an answer, of which printable ASCII is kept.
private final class AnswerLine: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let mostBytes = 1_024

    private let answer: EventLoopPromise<String>
    private var text = ""

    init(_ answer: EventLoopPromise<String>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for byte in Self.unwrapInboundIn(data).readableBytesView {
            if byte == UInt8(ascii: "\n") || self.text.utf8.count >= Self.mostBytes {
                self.answer.succeed(self.text)
                context.close(promise: nil)
                return
            }
            if byte >= 0x20, byte < 0x7f { self.text.unicodeScalars.append(Unicode.Scalar(byte)) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.answer.fail(HealthProbe.Failure(reason: "broke off"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.answer.fail(error)
        context.close(promise: nil)
    }
}
