//! Sensors of contacts and of groups in which any two may touch.

use super::{NamedSensor, Reading, Sensor, SensorFrame, number, xyz};
use crate::lie::Vector3;
use crate::results::Channel;
use crate::results::scene::ArrowKind;

/// What is measured of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContactQuantity {
    /// Force in N on the second body in world axes.
    Force,
    /// Sum of the normal forces in N.
    NormalForce,
    /// Largest depth in m; negative for the smallest gap if nothing touches.
    Depth,
}

/// Shows what two shapes that touch do to each other.
pub struct ContactSensor {
    elements: Vec<usize>,
    quantity: ContactQuantity,
}

impl ContactSensor {
    /// All that can be measured of a contact: `force` on its second body, drawn at a frame, `normal-force`,
    /// `depth`.
    pub fn all(name: &str, elements: &[usize], shown_at: SensorFrame) -> [NamedSensor; 3] {
        let sensor = |word: &str, quantity| {
            NamedSensor::new(format!("{name}.{word}"), Self { elements: elements.to_vec(), quantity })
        };
        [
            sensor("force", ContactQuantity::Force).with_arrow(ArrowKind::Reaction, shown_at),
            sensor("normal-force", ContactQuantity::NormalForce),
            sensor("depth", ContactQuantity::Depth),
        ]
    }
}

impl Sensor for ContactSensor {
    fn channels(&self) -> Vec<Channel> {
        match self.quantity {
            ContactQuantity::Force => xyz("N"),
            ContactQuantity::NormalForce => number("N"),
            ContactQuantity::Depth => number("m"),
        }
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let touches = self.elements.iter().filter_map(|&element| at.system.contact(element, &at.point));
        match self.quantity {
            ContactQuantity::Force => {
                let force: Vector3 = touches.map(|contact| contact.force).sum();
                out.extend_from_slice(force.as_slice());
            }
            ContactQuantity::NormalForce => out.push(touches.map(|contact| contact.normal_force).sum()),
            ContactQuantity::Depth => {
                let deepest = touches.map(|contact| contact.depth).reduce(f64::max);
                out.push(deepest.unwrap_or(0.0));
            }
        }
    }
}

/// What is measured of a group in which any two may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupQuantity {
    /// How many pairs touch.
    Contacts,
    /// Sum of the normal forces in N.
    NormalForce,
    /// Largest depth in m; 0 if nothing touches.
    Depth,
}

/// Shows what happens in a group in which any two may touch.
pub struct GroupSensor {
    group: String,
    quantity: GroupQuantity,
}

impl GroupSensor {
    /// All that can be measured of a group: `contacts`, `normal-force`, `depth`.
    pub fn all(name: &str) -> [NamedSensor; 3] {
        let sensor = |word: &str, quantity| {
            NamedSensor::new(format!("{name}.{word}"), Self { group: name.to_string(), quantity })
        };
        [
            sensor("contacts", GroupQuantity::Contacts),
            sensor("normal-force", GroupQuantity::NormalForce),
            sensor("depth", GroupQuantity::Depth),
        ]
    }
}

impl Sensor for GroupSensor {
    fn channels(&self) -> Vec<Channel> {
        number(match self.quantity {
            GroupQuantity::Contacts => "1",
            GroupQuantity::NormalForce => "N",
            GroupQuantity::Depth => "m",
        })
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let contact = at.system.group_contact(&self.group, &at.point);
        out.push(match self.quantity {
            GroupQuantity::Contacts => contact.touching as f64,
            GroupQuantity::NormalForce => contact.normal_force,
            GroupQuantity::Depth => contact.depth,
        });
    }
}
