import ArgumentParser
package import HTTP

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    package var defaultValueDescription: String { "\(self)" }
}
