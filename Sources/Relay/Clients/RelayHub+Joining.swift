import HTTP
package import NIOCore
package import NIOHTTP1

/// Clients whose connections were not accepted by a listening socket.
extension RelayHub {
    /// Makes the session of a request to a WebSocket at the end of a pipeline.
    ///
    /// - Throws: ``HTTPRefusal`` if there is none at the path, or the request is not valid.
    package func join(_ pipeline: ChannelPipeline.SynchronousOperations, for request: HTTPRequestHead) throws {
        guard let spoken = self.protocols.at(request.path) else {
            throw HTTPRefusal.notFound(webSockets: self.protocols.paths)
        }
        try spoken.init(request: request, context: self.context).join(pipeline)
    }

    /// Makes the pipeline of a connection of plain lines.
    package func joinLines(_ pipeline: ChannelPipeline.SynchronousOperations) throws {
        try LineHandler.addHandlers(to: pipeline, self.lineService())
    }

    /// Makes the service of a connection of plain lines that is open to everybody.
    func lineService() -> LineService {
        LineService(
            handshakeTimeout: self.settings.handshakeTimeout,
            closeTimeout: self.settings.webSocket.closeTimeout,
            deadlines: self.deadlines,
            makeSession: { LineClient(context: self.context) },
            refused: { type in self.instruments.refusals.add(type) }
        )
    }
}
