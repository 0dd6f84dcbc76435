import ArgumentParser
package import Relay

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    package var defaultValueDescription: String { "\(self)" }
}
